//! One byte for each code point, in little memory.

use std::collections::HashMap;

const BLOCK: usize = 256;
pub(super) const CODE_POINTS: usize = 0x11_0000;

/// A two-stage table: most blocks of 256 code points are alike and are stored once.
#[derive(Debug)]
pub(super) struct CodePointTable {
    block_of: Vec<u16>,
    blocks: Vec<[u8; BLOCK]>,
}

impl CodePointTable {
    /// The table of what is known of every code point.
    pub(super) fn new(of_code_point: &[u8]) -> Self {
        assert_eq!(of_code_point.len(), CODE_POINTS);
        let mut table =
            Self { block_of: Vec::with_capacity(CODE_POINTS / BLOCK), blocks: Vec::new() };
        let mut seen: HashMap<&[u8], u16> = HashMap::new();
        for block in of_code_point.chunks_exact(BLOCK) {
            let index = *seen.entry(block).or_insert_with(|| {
                table.blocks.push(block.try_into().expect("a whole block"));
                (table.blocks.len() - 1) as u16
            });
            table.block_of.push(index);
        }
        table
    }

    #[inline]
    pub(super) fn of(&self, code: u32) -> u8 {
        let code = code as usize;
        self.blocks[self.block_of[code / BLOCK] as usize][code % BLOCK]
    }
}

/// The code and the length of the character of two bytes or more that `bytes` begins with.
#[inline]
pub(super) fn decode(bytes: &[u8]) -> (u32, usize) {
    let low = |at: usize| u32::from(bytes[at] & 0x3F);
    match bytes[0] {
        lead @ 0..0xE0 => (u32::from(lead & 0x1F) << 6 | low(1), 2),
        lead @ 0xE0..0xF0 => (u32::from(lead & 0x0F) << 12 | low(1) << 6 | low(2), 3),
        lead => (u32::from(lead & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3), 4),
    }
}
