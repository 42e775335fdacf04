//! The definition of a tool that a program adds.

use belljar_arguments::{Compiled, Gaps, Plan, Undeclared, Unfit};
use belljar_model::{Effect, ToolDefinition};
use serde_json::{Map, Value};

/// A tool of a [`ToolSet`](crate::ToolSet): its name, what it may change, and what scripts can read
/// about it.
#[derive(Debug)]
pub struct Tool {
    pub(crate) definition: ToolDefinition,
    pub(crate) effect: Effect,
    pub(crate) schema: Option<Schema>,
}

/// Why a schema is not usable for a tool.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The schema is not a JSON object.
    #[error("the schema is not a JSON object")]
    NotAnObject,
    /// It is not a valid schema, or arguments cannot be checked against it within bounds.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// Checking arguments against it could block the program.
    #[error("the schema is too large to be checked in this process: use fewer parts, and shorter patterns")]
    TooLarge,
}

impl Tool {
    /// A tool of which only the name and the effect are known.
    pub fn new(name: impl Into<String>, effect: Effect) -> Self {
        Self { definition: ToolDefinition::unknown(name), effect, schema: None }
    }

    /// The same tool with a description for models. The first line is its summary.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    /// The same tool with the JSON Schema of its arguments: models read it as a TypeScript
    /// declaration, and each call is checked against it before it is made.
    ///
    /// # Errors
    /// [`SchemaError`], if the schema cannot be used to check calls.
    pub fn with_input(mut self, schema: Value) -> Result<Self, SchemaError> {
        let schema = Schema::new(schema)?;
        self.definition.input_schema = schema.text.clone();
        self.schema = Some(schema);
        Ok(self)
    }

    /// The same tool with the JSON Schema of its results, for models to read. Results are not
    /// checked.
    ///
    /// # Errors
    /// [`SchemaError::NotAnObject`], if the schema is not a JSON object.
    pub fn with_output(mut self, schema: Value) -> Result<Self, SchemaError> {
        let Value::Object(schema) = schema else { return Err(SchemaError::NotAnObject) };
        self.definition.output_schema = Some(schema);
        Ok(self)
    }
}

/// The schema of a tool's arguments, ready to check them.
#[derive(Debug)]
pub(crate) struct Schema {
    text: Map<String, Value>,
    plan: Plan,
    compiled: Compiled,
}

impl Schema {
    fn new(schema: Value) -> Result<Self, SchemaError> {
        let Value::Object(text) = &schema else { return Err(SchemaError::NotAnObject) };
        let text = text.clone();
        let plan = Plan::of(&schema)?;
        if !plan.is_small {
            return Err(SchemaError::TooLarge);
        }
        Ok(Self { text, plan, compiled: Compiled::new(schema)? })
    }

    /// The arguments, if they are valid.
    ///
    /// # Errors
    /// The problems in words. Arguments whose check would take long are refused too: a script must
    /// not block the program.
    pub(crate) fn checked(&self, arguments: Map<String, Value>) -> Result<Map<String, Value>, String> {
        let arguments = Value::Object(arguments);
        if !self.plan.fits_in_place(&arguments) {
            return Err("the arguments are too large to be checked: pass less at once".to_owned());
        }
        let problems = self.compiled.problems(&arguments);
        let Value::Object(arguments) = arguments else { return Ok(Map::new()) };
        let problem = problems.or_else(|| Undeclared::of(&self.text, &arguments, &Gaps::default()).problem());
        problem.map_or(Ok(arguments), Err)
    }
}
