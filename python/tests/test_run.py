"""What the wheel returns is what the program writes."""

import os
import pathlib

import pytest

import jobset_sim

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIRST = str(ROOT / "scenarios" / "first-steps.yaml")


def test_a_run_has_the_summary_and_the_digest_of_the_program():
    run = jobset_sim.run(FIRST)
    golden = (ROOT / "scenarios" / "first-steps.log").read_text()
    assert run.digest in golden
    assert run.summary["digest"] == run.digest
    assert run.summary["jobSets"][0]["terminalState"] == "Completed"


def test_tables_are_columns_of_equal_length_with_numbers_as_numbers():
    run = jobset_sim.run(FIRST, seed=7)
    assert {"restarts", "ledger", "control_plane", "pods", "nodes"} <= set(run.names)
    for name in run.names:
        table = run.table(name)
        assert len({len(column) for column in table.values()}) == 1, name
    restarts = run.table("restarts")
    assert all(isinstance(total, float) for total in restarts["total_s"])
    assert isinstance(restarts["attempt"][0], int)
    with pytest.raises(ValueError, match="restarts"):
        run.table("restart")


def test_variants_meet_the_same_faults_and_rows_are_named():
    rows = jobset_sim.replicate(
        FIRST,
        n=3,
        variants={
            "recreate": {},
            "blocking": {"jobSets[0].restartStrategy": "BlockingRecreate"},
        },
        seed=5,
    )
    assert rows["variant"] == ["recreate"] * 3 + ["blocking"] * 3
    assert rows["replication"] == [0, 1, 2] * 2
    assert all(isinstance(digest, str) for digest in rows["digest"])
    alone = jobset_sim.replicate(FIRST, n=2, seed=5, threads=1)
    assert alone["digest"] == rows["digest"][:2]


def test_what_is_wrong_is_said_with_its_place():
    with pytest.raises(ValueError, match="no-such.yaml"):
        jobset_sim.run("no-such.yaml")
    with pytest.raises(ValueError, match="jobSet"):
        jobset_sim.run(FIRST, set={"jobSetz[0].x": 1})


def test_values_may_be_python_values():
    run = jobset_sim.run(FIRST, set={"seed": 9, "faults": []})
    assert run.summary["seed"] == 9
    assert run.table("restarts")["total_s"] == []


def test_phases_are_rows_and_add_up_to_the_restart():
    run = jobset_sim.run(FIRST)
    phases = run.phases()
    assert {"detect", "terminate", "recreate", "schedule", "start"} <= set(phases["phase"])
    total = run.table("restarts")["total_s"][0]
    of_first = [s for s, n in zip(phases["takes_s"], phases["attempt"]) if n == phases["attempt"][0]]
    assert abs(sum(of_first) - total) < 1e-6
    many = jobset_sim.phases(FIRST, n=3)
    assert set(many["replication"]) == {0, 1, 2}
    first = [s for s, r in zip(many["takes_s"], many["replication"]) if r == 0]
    assert first == phases["takes_s"]


def test_columns_become_frames_and_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    phases = jobset_sim.phases(FIRST, n=2)
    frame = pandas.DataFrame(phases)
    frame.to_parquet(tmp_path / "phases.parquet")
    again = pandas.read_parquet(tmp_path / "phases.parquet")
    assert again["takes_s"].sum() == pytest.approx(frame["takes_s"].sum())
    polars.DataFrame(phases).write_parquet(tmp_path / "polars.parquet")
    assert polars.read_parquet(tmp_path / "polars.parquet").shape == frame.shape
