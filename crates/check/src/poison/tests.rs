//! Tables for the detectors.
