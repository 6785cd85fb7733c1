//! The worker of the sandbox as a program of its own.

fn main() -> std::process::ExitCode {
    toolwright_sandbox::worker_main()
}
