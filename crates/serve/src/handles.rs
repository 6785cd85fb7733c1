//! Random names for things that only their owner may find: sessions, stored results, suspended
//! calls.

/// A name of 128 random bits, in hexadecimal digits.
pub(crate) fn random_handle() -> String {
    let mut bytes = [0_u8; 16];
    // Fails only on systems without a random number generator, where nothing here would be safe.
    getrandom::fill(&mut bytes).expect("the system has a random number generator");
    toolwright_model::hex(&bytes)
}

#[cfg(test)]
mod tests {
    use super::random_handle;

    #[test]
    fn handles_are_long_and_distinct() {
        let (one, other) = (random_handle(), random_handle());
        assert_eq!((one.len(), other.len()), (32, 32));
        assert_ne!(one, other);
    }
}
