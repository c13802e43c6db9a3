//! What code for x86 counts on beyond what every such processor has.

/// Whether this processor has AVX2, BMI1, BMI2, LZCNT and POPCNT, as all have that were sold with the
/// first of them.
#[inline]
pub(crate) fn is_supported() -> bool {
    #[cfg(test)]
    if portable::IS_ASKED_FOR.get() {
        return false;
    }
    std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("lzcnt")
        && std::arch::is_x86_feature_detected!("popcnt")
}

/// For tests of the code that other processors run.
#[cfg(test)]
pub(crate) mod portable {
    use std::cell::Cell;

    thread_local! {
        pub(super) static IS_ASKED_FOR: Cell<bool> = const { Cell::new(false) };
    }

    /// Until it is dropped, also by a test that fails.
    struct Asked;

    impl Drop for Asked {
        fn drop(&mut self) {
            IS_ASKED_FOR.set(false);
        }
    }

    /// Do `work` as on a processor that has none of it, as far as this thread does it.
    pub(crate) fn only<T>(work: impl FnOnce() -> T) -> T {
        let _asked = Asked;
        IS_ASKED_FOR.set(true);
        work()
    }
}
