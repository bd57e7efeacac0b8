//! PNG files: 8-bit RGB, one compressed stream without filters (ISO/IEC 15948).
//!
//! The chunks are written here and compressed by `miniz_oxide`, so that no image library is linked.

/// Encodes `size.0` × `size.1` pixels of three bytes each, row by row.
pub fn encode(rgb: &[u8], size: (u32, u32)) -> Vec<u8> {
    let row = 3 * size.0 as usize;
    assert_eq!(rgb.len(), row * size.1 as usize, "three bytes per pixel");
    let mut filtered = Vec::with_capacity(rgb.len() + size.1 as usize);
    for line in rgb.chunks(row) {
        filtered.push(0);
        filtered.extend_from_slice(line);
    }
    let mut header = Vec::new();
    header.extend_from_slice(&size.0.to_be_bytes());
    header.extend_from_slice(&size.1.to_be_bytes());
    // Bit depth 8, color type RGB, then compression, filter and interlace methods 0.
    header.extend_from_slice(&[8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, b"IHDR", &header);
    let level = miniz_oxide::deflate::CompressionLevel::DefaultLevel as u8;
    let data = miniz_oxide::deflate::compress_to_vec_zlib(&filtered, level);
    chunk(&mut file, b"IDAT", &data);
    chunk(&mut file, b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    file.extend_from_slice(&(data.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend_from_slice(kind);
    file.extend_from_slice(data);
    let checksum = crc32(&file[start..]);
    file.extend_from_slice(&checksum.to_be_bytes());
}

/// Returns the 32-bit checksum of ISO 3309. It is computed bit by bit; a chart has 20 to 100 KiB.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    let byte = |crc: u32, &byte: &u8| (0..8).fold(crc ^ u32::from(byte), step);
    !bytes.iter().fold(u32::MAX, byte)
}

#[cfg(test)]
#[path = "../../../tests/inside/report/draw/png.rs"]
mod tests;
