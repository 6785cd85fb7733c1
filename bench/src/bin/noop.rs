//! Does nothing. Its start is what every program pays, and is subtracted from that of the others.

fn main() {}
