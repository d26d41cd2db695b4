//! The API of the scenario.

use axum::{Json as Answer, Router, http::StatusCode, routing::get};
use serde::Serialize;

use base::{error::Failure, kes::Kes};
use lending::{
    events::Trail,
    mobile_money::{MAGIC, Outcome, Scenario, ScenarioChange},
};
use web::extract::Json;
use worlds::sandboxes::Sandbox;

pub fn routes() -> Router {
    Router::new().route("/scenario", get(scenario).put(change_scenario).delete(reset_scenario))
}

#[derive(Serialize)]
struct ScenarioAnswer {
    #[serde(flatten)]
    scenario: Scenario,
    outcomes: Vec<OutcomeAnswer>,
    magic: Vec<MagicAnswer>,
}

#[derive(Serialize)]
struct OutcomeAnswer {
    name: &'static str,
    result_code: Option<&'static str>,
    text: &'static str,
}

#[derive(Serialize)]
struct MagicAnswer {
    phone: Option<&'static str>,
    amount: Option<Kes>,
    outcome: Outcome,
}

impl ScenarioAnswer {
    fn of(scenario: Scenario) -> Self {
        let outcomes = Outcome::ALL
            .into_iter()
            .map(|outcome| OutcomeAnswer {
                name: outcome.name(),
                result_code: outcome.result_code(),
                text: outcome.text(),
            })
            .collect();
        let phones = MAGIC.iter().map(|magic| MagicAnswer {
            phone: Some(magic.phone),
            amount: None,
            outcome: magic.outcome,
        });
        let amounts = MAGIC.iter().filter(|magic| magic.amount.is_some()).map(|magic| MagicAnswer {
            phone: None,
            amount: magic.amount,
            outcome: magic.outcome,
        });
        Self { scenario, outcomes, magic: phones.chain(amounts).collect() }
    }
}

async fn scenario(sandbox: Sandbox) -> Result<Answer<ScenarioAnswer>, Failure> {
    Ok(Answer(ScenarioAnswer::of(sandbox.mobile_money.scenario().await?)))
}

async fn change_scenario(
    sandbox: Sandbox,
    trail: Trail,
    Json(change): Json<ScenarioChange>,
) -> Result<Answer<ScenarioAnswer>, Failure> {
    Ok(Answer(ScenarioAnswer::of(sandbox.mobile_money.change_scenario(change, &trail).await?)))
}

async fn reset_scenario(sandbox: Sandbox, trail: Trail) -> Result<StatusCode, Failure> {
    sandbox.mobile_money.change_scenario(ScenarioChange::back_to_start(), &trail).await?;
    Ok(StatusCode::NO_CONTENT)
}
