//! A function of a definition, ready to run: compiled on first use, its limits those of its kind,
//! its places shown as places of the file it stands in.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;
use toolwright_model::FunctionLimits;
use toolwright_sandbox::{
    CodePosition, GuestLimits, HostFunctions, LogLine, Program, ProgramForm, ProgramInput,
    ProgramOutput, SandboxError, SandboxErrorCode, TraceFrame, WorkerPool,
};
use toolwright_script::{Clue, Frame, blame, blame_import, blame_throw, mistake};

use crate::{Json, Log};

/// What a function is for; its limits follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Called by name.
    Helper,
    /// Changes arguments or results.
    Processor,
    /// Refuses bad arguments.
    Validator,
    /// Is the tool.
    Body,
}

impl Role {
    /// What to call one of them.
    pub fn name(self) -> &'static str {
        match self {
            Role::Helper => "helper",
            Role::Processor => "processor",
            Role::Validator => "validator",
            Role::Body => "body",
        }
    }
}

/// Bytes that may go in, however little may come out.
const LEAST_INPUT: usize = 4 << 20;

/// The sandbox limits of a function with this role.
pub fn guest_limits(limits: &FunctionLimits, role: Role) -> GuestLimits {
    let cpu = match role {
        Role::Validator => limits.validator,
        Role::Helper | Role::Processor | Role::Body => limits.function,
    };
    let memory = if role == Role::Body { limits.body_memory } else { limits.memory };
    // Wide, so that a busy machine does not fail a good function.
    let wall = cpu * 10 + Duration::from_secs(5);
    let input = (4 * limits.output).max(LEAST_INPUT);
    GuestLimits { cpu, wall, memory, input, output: limits.output, ..GuestLimits::default() }
}

/// Shows a place of a function as one in the file it stands in.
pub type Show = Arc<dyn Fn(CodePosition) -> String + Send + Sync>;

/// A function of a definition.
pub struct Code {
    /// What it is for.
    pub role: Role,
    /// Its name among its kind.
    pub id: String,
    source: String,
    form: ProgramForm,
    show: Option<Show>,
    /// What came of compiling it, unless that may pass.
    program: OnceCell<Result<Program, SandboxError>>,
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.role.name(), self.id)
    }
}

impl Code {
    /// A function of an AIOS definition.
    pub fn function(
        role: Role,
        id: impl Into<String>,
        source: impl Into<String>,
        show: Option<Show>,
    ) -> Code {
        Code {
            role,
            id: id.into(),
            source: source.into(),
            form: ProgramForm::Script,
            show,
            program: OnceCell::new(),
        }
    }

    /// The body of a tool: an ES module.
    pub fn body(id: impl Into<String>, source: impl Into<String>, show: Option<Show>) -> Code {
        let (id, source) = (id.into(), source.into());
        Code {
            role: Role::Body,
            id,
            source,
            form: ProgramForm::Module,
            show,
            program: OnceCell::new(),
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// What the sandbox says, with places in the function's own text.
    pub async fn run(
        &self,
        pool: &WorkerPool,
        input: &ProgramInput,
        limits: &GuestLimits,
        host: Option<&dyn HostFunctions>,
    ) -> Result<ProgramOutput, SandboxError> {
        let compile = async || match pool.compile(&self.source, self.form, Some(&self.id)).await {
            Err(error) if may_pass(&error) => Err(error),
            compiled => Ok(compiled.map_err(|error| self.located(error, &Json::Null))),
        };
        let program = self.program.get_or_try_init(compile).await?;
        let output = pool.run(program.as_ref().map_err(Clone::clone)?, input, limits, host).await;
        output.map_err(|error| self.located(error, &input.args))
    }

    /// An error at the place that is to be blamed, which the engine knows only roughly or not at
    /// all.
    fn located(&self, mut error: SandboxError, args: &Json) -> SandboxError {
        let (source, is_module) = (self.source.as_str(), self.form == ProgramForm::Module);
        let byte = |place: CodePosition| place.byte_offset(source);
        let blamed = match error.code {
            _ if let Some(name) = error.refused_import() => blame_import(source, name),
            SandboxErrorCode::Syntax => match mistake(source, is_module) {
                Some(mistake) => {
                    error.message = mistake.message;
                    Some(mistake.range.start)
                }
                None => error.position().map(byte),
            },
            SandboxErrorCode::Threw if error.name.is_none() => {
                blame_throw(source, is_module, error.position().map(byte), &error.message)
            }
            SandboxErrorCode::Threw | SandboxErrorCode::StackOverflow => {
                let frames = error.trace.iter().map(|frame| match frame {
                    TraceFrame::Program(place) => Frame::Program(byte(*place)),
                    TraceFrame::Native(name) => Frame::Native(name),
                });
                let frames: Vec<Frame> = frames.collect();
                let class = error.class.as_deref();
                let is_given = |path: &[String]| is_there(args, path);
                let clue =
                    Clue { frames: &frames, message: &error.message, class, is_given: &is_given };
                blame(source, is_module, clue)
            }
            SandboxErrorCode::Timeout => error.position().map(byte),
            SandboxErrorCode::NotJson
            | SandboxErrorCode::NoEntryPoint
            | SandboxErrorCode::MemoryLimit
            | SandboxErrorCode::OutputTooLarge => None,
            _ => return error,
        };
        // Where nothing is known, it is the function as a whole.
        let place = CodePosition::of_byte(source, blamed.unwrap_or_default());
        error.trace = [TraceFrame::Program(place)].into();
        error
    }

    /// Where in its file a place of its text is.
    pub fn place(&self, place: CodePosition) -> String {
        match &self.show {
            Some(show) => show(place),
            None => format!("line {}, column {}", place.line, place.column),
        }
    }

    /// Puts what it wrote to `console` into the log.
    pub(crate) fn log(&self, lines: &[LogLine], log: &Log) {
        for line in lines {
            log.line(&format!("{self:?}: console: {}", line.text));
        }
    }

    /// One sentence about why there is no result: what went wrong, in which function, where.
    pub fn explain(&self, error: &SandboxError) -> String {
        let (role, id) = (self.role.name(), &self.id);
        let mut what = match (&error.name, error.code) {
            (Some(name), SandboxErrorCode::Threw) => format!("threw {name}: {}", error.message),
            _ => format!("failed with {}: {}", error.code, error.message),
        };
        if let Some(cause) = cause(error) {
            what.push_str(&format!(", caused by {}", cause.replace('\n', " ")));
        }
        match error.position() {
            Some(place) => format!("{role} `{id}` {what} ({})", self.place(place)),
            None => format!("{role} `{id}` {what}"),
        }
    }
}

/// Whether a value has something at a path that is not `null`.
fn is_there(value: &Json, path: &[String]) -> bool {
    let found = path.iter().try_fold(value, |value, step| match value {
        Json::Array(items) => items.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    });
    found.is_some_and(|value| !value.is_null())
}

/// What the author says that an error was caused by.
pub fn cause(error: &SandboxError) -> Option<&str> {
    error.fields.as_deref()?.get("cause")?.as_str()
}

/// Whether compiling may fail for a reason that is gone the next time: a worker, a busy machine.
fn may_pass(error: &SandboxError) -> bool {
    match error.code {
        SandboxErrorCode::Syntax
        | SandboxErrorCode::InputTooLarge
        | SandboxErrorCode::StackOverflow => false,
        SandboxErrorCode::Timeout => error.cpu < Duration::from_secs(1),
        _ => true,
    }
}

/// What a function is given. A processor has it as `data`, too, and what helpers got out of it as
/// `fields`.
pub fn input(role: Role, value: &Json) -> ProgramInput {
    let mut input = ProgramInput::args(value.clone());
    if role == Role::Processor {
        input.data = Some(value.clone());
        input.globals = vec![("fields".to_owned(), Json::Object(serde_json::Map::new()))];
    }
    input
}
