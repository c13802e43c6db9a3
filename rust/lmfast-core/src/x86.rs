//! What code for x86 counts on beyond what every such processor has.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// What a processor has. What is compiled for a level runs on the later ones, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// None of it.
    Base,
    /// AVX2, BMI1, BMI2, LZCNT and POPCNT, as all have that were sold with the first of them.
    Avx2,
    /// AVX-512 with F, BW, DQ, VL, VBMI and VBMI2 besides: Ice Lake, Zen 4 and what came after.
    Avx512,
}

/// The level of this processor.
#[inline]
pub(crate) fn level() -> Level {
    // No lock: a child that is forked while another thread holds it would wait for good.
    static LEVEL: AtomicU8 = AtomicU8::new(UNKNOWN);
    let level = match LEVEL.load(Relaxed) {
        0 => Level::Base,
        1 => Level::Avx2,
        2 => Level::Avx512,
        _ => {
            let level = detect();
            LEVEL.store(level as u8, Relaxed);
            level
        }
    };
    #[cfg(test)]
    let level = level.min(limit::get());
    level
}

const UNKNOWN: u8 = u8::MAX;

#[cold]
fn detect() -> Level {
    macro_rules! has {
        ($($feature:tt),+) => { $(std::arch::is_x86_feature_detected!($feature))&&+ };
    }
    if !has!("avx2", "bmi1", "bmi2", "lzcnt", "popcnt") {
        Level::Base
    } else if has!("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "avx512vbmi2") {
        Level::Avx512
    } else {
        Level::Avx2
    }
}

/// For tests of the code that other processors run.
#[cfg(test)]
pub(crate) mod limit {
    use std::cell::Cell;

    use super::Level;

    thread_local! {
        static LIMIT: Cell<Level> = const { Cell::new(Level::Avx512) };
    }

    pub(super) fn get() -> Level {
        LIMIT.get()
    }

    /// Until it is dropped, also by a test that fails.
    struct Limited;

    impl Drop for Limited {
        fn drop(&mut self) {
            LIMIT.set(Level::Avx512);
        }
    }

    /// Do `work` as on each of the levels up to that of this processor, as far as this thread does
    /// it.
    pub(crate) fn on_each(mut work: impl FnMut()) {
        let best = super::level();
        for level in [Level::Base, Level::Avx2, Level::Avx512] {
            if level <= best {
                let _limited = Limited;
                LIMIT.set(level);
                work();
            }
        }
    }
}
