//! Unit tests of `sim_report::draw::png`.

use super::*;

#[test]
fn the_checksum_is_that_of_the_standard() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    assert_eq!(crc32(b"IEND"), 0xae42_6082);
}

#[test]
fn pixels_can_be_decompressed() {
    let rgb = [255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9];
    let file = encode(&rgb, (2, 2));
    assert_eq!(file[16..24], [0, 0, 0, 2, 0, 0, 0, 2]);
    let length = u32::from_be_bytes(file[33..37].try_into().unwrap()) as usize;
    let raw = miniz_oxide::inflate::decompress_to_vec_zlib(&file[41..41 + length]).unwrap();
    assert_eq!(raw, [0, 255, 0, 0, 0, 255, 0, 0, 0, 0, 255, 9, 9, 9]);
}
