//! What the fuzz target of worker frames calls. Only the feature `internals` builds it.

use futures::FutureExt as _;

use super::*;

/// Takes bytes as what a hostile worker answers to one request, numbered 0, and reads
/// all that the parent would read from them. Without a process, a guest or any waiting. The first
/// byte chooses the request.
pub fn fuzz_worker_frames(bytes: &[u8]) {
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let kind = if choice & 1 == 0 { FrameKind::Run } else { FrameKind::Compile };
    let limits = GuestLimits { output: 4 << 10, log: 1 << 10, ..GuestLimits::default() };
    let Ok(mut worker) = WorkerProcess::without_process(bytes.to_vec()) else { return };
    let mut call = WorkerCall {
        worker: &mut worker,
        number: 0,
        kind,
        outgoing: Vec::new(),
        sent: 0,
        limits: &limits,
        log: Vec::new(),
        log_left: limits.log,
        cpu_before: Duration::ZERO,
        wall_used: Duration::ZERO,
        running_since: Some(Instant::now()),
        next_check: Instant::now(),
        kill_at: None,
        spin_until: Instant::now(),
    };
    let names = ["a".to_owned()];
    let host = FuzzHost;
    let mut pending = PendingHostCalls {
        host: Some(&host),
        names: &names,
        calls: FuturesUnordered::new(),
        answers: VecDeque::new(),
    };
    while let Ok(Some((kind, frame))) = call.next_frame() {
        let Ok(answer) = call.handle_frame(kind, frame, &mut pending) else { return };
        let Some(answer) = answer else { continue };
        let _ = answer.compiled_code();
        if let Ok(error) = answer.failure() {
            let text = "one line\nand another with ä";
            let at = error.position().map_or(0, |position| position.byte_offset(text));
            assert!(text.is_char_boundary(at));
        }
        let is_small = answer.body.len() <= MAX_PARSED_INLINE;
        let result = is_small.then(|| answer.result(&limits).now_or_never().expect("it is small"));
        if let Some(Ok(value)) = result {
            assert!(is_at_most_deep(&value, MAX_DEPTH + 1));
        }
        return;
    }
}

/// The host of [`fuzz_worker_frames`], whose one function answers with its arguments.
struct FuzzHost;

impl HostFunctions for FuzzHost {
    fn names(&self) -> Vec<String> {
        vec!["a".to_owned()]
    }

    fn call<'a>(&'a self, _: &'a str, args: Vec<Json>) -> BoxFuture<'a, Result<Json, HostError>> {
        Box::pin(std::future::ready(Ok(Json::Array(args))))
    }
}
