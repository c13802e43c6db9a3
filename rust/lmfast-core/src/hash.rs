//! The hash of a pretoken: the same in every run, so that counting is reproducible.
//!
//! Most pretokens are short, so those up to 15 bytes are one number that hashes and compares in a
//! few steps, without a branch on the length. The hash folds a 128-bit product, as the wyhash
//! family does.

const SEEDS: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

/// Bytes of a pretoken with its length behind them, if there are no more than 15.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Short {
    low: u64,
    high: u64,
}

impl Short {
    pub(crate) const LONGEST: usize = 15;

    /// The pretoken `text[start..end]`; `None` if it is long.
    #[inline]
    pub(crate) fn of(text: &[u8], start: usize, end: usize) -> Option<Self> {
        (end - start <= Self::LONGEST).then(|| Self::or_no_key(text, start, end))
    }

    /// The same, but a key that no pretoken has if it is long.
    #[inline(always)]
    pub(crate) fn or_no_key(text: &[u8], start: usize, end: usize) -> Self {
        let len = (end - start).min(Self::LONGEST + 1);
        let bits = u128::from_le_bytes(first_bytes(text, start));
        let (low, high) = (bits as u64, (bits >> 64) as u64);
        Self { low: low & MASKS[len][0], high: high & MASKS[len][1] | (len as u64) << 56 }
    }

    /// What [`words`](Self::words) gave.
    #[inline]
    pub(crate) fn from_words(low: u64, high: u64) -> Self {
        Self { low, high }
    }

    /// Two numbers that are the same for no other; the second is not 0 unless nothing is there.
    #[inline]
    pub(crate) fn words(self) -> (u64, u64) {
        (self.low, self.high)
    }

    #[inline]
    pub(crate) fn hash(self) -> u32 {
        (fold(self.low ^ SEEDS[0], self.high ^ SEEDS[1]) >> 32) as u32
    }

    /// 0 for what is no pretoken, more than [`Self::LONGEST`] for no key.
    #[inline]
    pub(crate) fn len(self) -> usize {
        (self.high >> 56) as usize
    }

    /// The pretoken is the first [`Self::len`] of these.
    pub(crate) fn bytes(self) -> [u8; 16] {
        (u128::from(self.high) << 64 | u128::from(self.low)).to_le_bytes()
    }
}

/// Those bits of two words that hold so many bytes, up to the longest.
const MASKS: [[u64; 2]; Short::LONGEST + 2] = {
    let mut masks = [[0; 2]; Short::LONGEST + 2];
    let mut len = 0;
    while len < masks.len() {
        let bytes = if len < Short::LONGEST { len } else { Short::LONGEST };
        let mask = (1u128 << (8 * bytes)) - 1;
        masks[len] = [mask as u64, (mask >> 64) as u64];
        len += 1;
    }
    masks
};

/// The bytes of `text` from `start` on, as many as are asked for; zeros behind its end.
#[inline(always)]
pub(crate) fn first_bytes<const N: usize>(text: &[u8], start: usize) -> [u8; N] {
    match text.len().checked_sub(N) {
        Some(last) if start <= last => text[start..start + N].try_into().expect("as many"),
        _ => padded(&text[start..]),
    }
}

#[cold]
fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut padded = [0; N];
    padded[..bytes.len()].copy_from_slice(bytes);
    padded
}

/// A number whose leading bits depend on all bits of `key` (Knuth, The Art of Computer Programming
/// 3, section 6.4: multiplication by the golden ratio).
#[inline]
pub(crate) fn spread(key: u64) -> u64 {
    key.wrapping_mul(SEEDS[0])
}

/// 32 bits: some say where a pretoken belongs, all of them tell it from others.
#[inline]
pub(crate) fn hash(pretoken: &[u8]) -> u32 {
    match Short::of(pretoken, 0, pretoken.len()) {
        Some(short) => short.hash(),
        None => long(pretoken),
    }
}

/// The hash of a pretoken of 16 bytes or more.
fn long(bytes: &[u8]) -> u32 {
    let (pairs, _) = bytes[..bytes.len() - 1].as_chunks::<16>();
    let mut state = SEEDS[2] ^ bytes.len() as u64;
    for pair in pairs {
        state = fold(eight(pair, 0) ^ SEEDS[0], eight(pair, 8) ^ state);
    }
    // The last 16 bytes may begin inside of the last pair.
    let end = bytes.len();
    (fold(eight(bytes, end - 16) ^ SEEDS[1], eight(bytes, end - 8) ^ state) >> 32) as u32
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Whether two pretokens of the same length are the same.
#[inline]
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    debug_assert_eq!(a.len(), b.len());
    let len = a.len();
    match len {
        8..=16 => eight(a, 0) == eight(b, 0) && eight(a, len - 8) == eight(b, len - 8),
        4..=7 => four(a, 0) == four(b, 0) && four(a, len - 4) == four(b, len - 4),
        _ => a == b,
    }
}

#[inline]
fn eight(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[inline]
fn four(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_byte_counts() {
        for len in 0..80 {
            let zeros = vec![0u8; len];
            let mut seen = HashSet::from([hash(&zeros)]);
            for at in 0..len {
                let mut other = zeros.clone();
                other[at] = 1;
                assert!(seen.insert(hash(&other)), "byte {at} of {len}");
                assert!(!same(&zeros, &other));
                assert!(same(&other, &other.clone()));
            }
        }
    }

    #[test]
    fn short_pretokens_are_cut_out_of_any_text() {
        let text = "a\0bcdefghijklmnopqrstuvwxyz".as_bytes();
        let mut seen = HashSet::new();
        for start in 0..text.len() {
            for end in start + 1..=text.len() {
                let Some(short) = Short::of(text, start, end) else {
                    assert!(end - start > 15);
                    continue;
                };
                assert_eq!(&short.bytes()[..short.len()], &text[start..end]);
                assert_eq!(short.hash(), hash(&text[start..end]));
                assert!(seen.insert(short.hash()));
            }
        }
    }

    #[test]
    fn words_spread_over_the_shards() {
        let mut shards = [0u32; 256];
        for number in 0..25_600 {
            shards[(hash(format!(" word{number}").as_bytes()) >> 24) as usize] += 1;
        }
        // Each holds 100 on average; ten standard deviations off would be no chance.
        assert!(shards.iter().all(|&count| (1..200).contains(&count)), "{shards:?}");
    }
}
