//! The headless Service and the claims of a JobSet (SVC-1, PVC-1).
//! Must never change an existing object, regardless of its owner.

use super::JobSetManager;
use super::cache::CachedJobSet;
use crate::{apiserver, ctx::EngineContext, record::Call, requests::RequestAnswer};
use serde_json::Value;
use sim_api::admission::AdmissionRejection;
use sim_api::objects;
use sim_api::spec::{JobSet, ObjectKind};
use sim_base::JobSetId;

const SERVICE_FAILED: &str = "HeadlessServiceCreationFailed";
const CLAIM_FAILED: &str = "PVCCreationFailed";

#[derive(Clone)]
pub(super) struct NewClaim {
    /// Index of its policy.
    pub policy: usize,
    pub object: Value,
}

/// The claims of the JobSet's policies, in order.
pub(super) fn new_claims(jobset: &JobSet) -> Vec<NewClaim> {
    let Some(object) = jobset.object.as_ref() else {
        return Vec::new();
    };
    let policies = object["spec"]["volumeClaimPolicies"].as_array();
    let templates = |policy: &Value| policy["templates"].as_array().map_or(0, Vec::len);
    let policies = policies.into_iter().flatten().enumerate();
    let policy_of = policies.flat_map(|(at, policy)| std::iter::repeat_n(at, templates(policy)));
    let claims = policy_of.zip(objects::claims(object));
    claims.map(|(policy, object)| NewClaim { policy, object }).collect()
}

/// SVC-1, C-71: a Service of another owner is sufficient. It is looked up on demand, because its changes do not queue
/// a pass.
pub(super) fn has_service(ctx: &EngineContext<'_>, jobset: JobSetId, cached: &CachedJobSet) -> bool {
    match ctx.store.owner_of_service(&cached.spec) {
        Some(owner) if owner != jobset => true,
        _ => cached.has_service,
    }
}

/// Returns the Service as the API server stores it, or the server's rejection.
fn admitted_service(jobset: &JobSet) -> Result<Value, AdmissionRejection> {
    let posted = jobset.object.as_ref().and_then(|o| objects::service(o));
    match posted {
        Some(service) => objects::admit_service(&service),
        None => Ok(Value::Null),
    }
}

impl JobSetManager {
    /// Handles the response. Upstream posts what its cache does not contain, so a name that is already taken aborts
    /// the pass.
    pub(super) fn service_answered(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let spec = self.pass.spec.clone();
        let at = (spec.namespace.as_str(), spec.service_name());
        let (answer, refusal) = match admitted_service(&spec) {
            Err(refusal) => (RequestAnswer::Invalid, refusal.message),
            Ok(object) => {
                let post =
                    |ctx: &mut EngineContext<'_>| apiserver::create_other(ctx, ObjectKind::Service, at, object, jobset);
                if self.write_object(ctx, post) {
                    (RequestAnswer::Success, String::new())
                } else {
                    (RequestAnswer::Conflict, format!("services {:?} already exists", at.1))
                }
            }
        };
        ctx.record_response(Call::JobSetServiceCreate, answer);
        if !answer.is_success() {
            self.report_failure(ctx, SERVICE_FAILED, refusal);
            self.pass.failed = true;
        }
    }

    /// Handles the response. AlreadyExists is normal in every pass but the first and is ignored. A rejection ends its
    /// policy; the claims of the next policy are still posted, then the pass is aborted.
    pub(super) fn claim_answered(&mut self, ctx: &mut EngineContext<'_>, jobset: JobSetId) {
        let claim = &self.pass.claims[self.pass.next - 1];
        let (policy, posted) = (claim.policy, &claim.object);
        match objects::admit_claim(posted) {
            Err(refused) => {
                ctx.record_response(Call::JobSetClaimCreate, RequestAnswer::Invalid);
                self.report_failure(ctx, CLAIM_FAILED, refused.message);
                let rest = &self.pass.claims[self.pass.next..];
                let skipped = rest.iter().take_while(|c| c.policy == policy);
                self.pass.next += skipped.count();
                self.pass.failed = true;
            }
            Ok(object) => {
                let metadata = &posted["metadata"];
                let owned = metadata["ownerReferences"].is_array();
                let owner = if owned { jobset } else { JobSetId::NONE };
                let name = metadata["name"].as_str().unwrap_or("");
                let at = (self.pass.spec.namespace.as_str(), name);
                let kind = ObjectKind::PersistentVolumeClaim;
                let made = apiserver::create_other(ctx, kind, at, object, owner);
                let answer = if made { RequestAnswer::Success } else { RequestAnswer::Conflict };
                ctx.record_response(Call::JobSetClaimCreate, answer);
            }
        }
    }
}
