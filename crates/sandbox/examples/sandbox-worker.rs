//! The smallest sandbox worker: a program of its own that a pool can start. A program that is also
//! something else calls `worker_main` if its arguments say so.

fn main() -> std::process::ExitCode {
    toolwright_sandbox::worker_main()
}
