//! The page of the slices.

use serde_json::json;

use crate::{
    browser::{Browser, confirmed, form, html, words},
    deploying, slices,
};

#[tokio::test]
async fn a_build_is_activated_and_rolled_back_with_a_history() {
    let (app, _portal) = slices::started().await;
    let browser = Browser::sign_in(&app).await;
    let page = browser.read("/console/slices").await;
    for shown in ["shell 0.1.0 with mfe-kit 0.1.0", "With the portal", "No deployments yet"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }

    slices::publish(&app, &slices::build("mfe-loans", "0.2.0")).await;
    let page = browser.read("/console/slices").await;
    for shown in ["0.2.0", "by ci", "Published"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }

    let loans = ("name", "mfe-loans");
    let page = browser.done("/console/slices", "roll-back", &[loans]).await;
    assert!(page.contains("Rolled back: mfe-loans 0.1.0 is live."), "{page}");
    let page = browser.done("/console/slices", "activate", &[loans, ("version", "0.2.0")]).await;
    assert!(page.contains("mfe-loans 0.2.0 is live."), "{page}");
    assert!(page.contains("the console"), "{page}");

    let page = browser.get("/console/slices").await;
    let asked = browser.send_as("/console/slices", &form(&page, "aria-label=\"Remove mfe-loans\"")).await;
    assert_eq!(asked.status, 200);
    assert!(words(&asked).contains("Remove mfe-loans?"), "{}", words(&asked));
    let page = browser.done("/console/slices", "remove", &[loans]).await;
    assert!(page.contains("Removed: mfe-loans 0.1.0 is live."), "{page}");
    assert!(page.contains("Removed"), "{page}");
    assert!(crate::browser::html(&browser.get("/console").await).contains(">Portal</a>"));

    let unknown = browser.send("/console/slices", "activate", &[loans, ("version", "0.9.0")]).await;
    assert_eq!(unknown.status, 404);
    assert!(words(&unknown).contains("0.9.0"), "{}", words(&unknown));
    assert_eq!(browser.send("/console/slices", "roll-back", &[("name", "../etc")]).await.status, 404);
    assert!(browser.read("/console/slices").await.contains("mfe-loans"), "the live build is untouched");
}

#[tokio::test]
async fn an_old_page_rolls_back_to_the_version_that_it_shows_or_not_at_all() {
    let (app, _portal) = slices::started().await;
    slices::hold(&app, "mfe-loans", "0.2.0").await;
    slices::publish(&app, &slices::build("mfe-loans", "0.3.0")).await;
    let browser = Browser::sign_in(&app).await;
    let page = "/console/slices";
    let old = browser.get(page).await;
    slices::activate(&app, "mfe-loans", "0.2.0").await;
    let refused =
        browser.send_as(page, &confirmed(&old, "aria-label=\"Roll mfe-loans back to 0.1.0\"")).await;
    assert_eq!(refused.status, 409);
    assert!(words(&refused).contains("mfe-loans has changed meanwhile."), "{}", words(&refused));
    assert_eq!(slices::versions(&app).await, (json!("0.2.0"), json!("0.3.0")));

    let new = browser.get(page).await;
    let done = browser.send_as(page, &confirmed(&new, "aria-label=\"Roll mfe-loans back to 0.3.0\"")).await;
    assert_eq!(done.status, 303);
    assert_eq!(slices::versions(&app).await.0, json!("0.3.0"));
}

#[tokio::test]
async fn a_deploy_token_is_added_shown_once_and_revoked() {
    let (app, _portal) = slices::started().await;
    let browser = Browser::sign_in(&app).await;
    assert!(browser.read("/console/slices").await.contains("No deploy tokens yet"));

    let fields = [("slice", "mfe-repayments"), ("name", "gitlab"), ("expires_in", "30d")];
    let added = browser.send("/console/slices", "add-token", &fields).await;
    assert_eq!(added.status, 200);
    assert!(words(&added).contains("The token gitlab of mfe-repayments is added."));
    let page = html(&added);
    let token = page.split("id=\"deploy-token\">").nth(1).unwrap().split('<').next().unwrap();
    assert!(!html(&browser.get("/console/slices").await).contains(token));
    let page = browser.read("/console/slices").await;
    assert!(page.contains("mfe-repayments gitlab 14 Dec 2026, 12:00:00 Never"), "{page}");
    let published = deploying::publication(token, &slices::build("mfe-repayments", "0.1.0"));
    assert_eq!(app.send(published).await.status, 201);
    let page = browser.read("/console/slices").await;
    assert!(page.contains("mfe-repayments gitlab 14 Dec 2026, 12:00:00 14 Nov 2026, 12:00:00"), "{page}");

    let again = browser.send("/console/slices", "add-token", &fields).await;
    assert_eq!(again.status, 409);
    assert!(words(&again).contains("mfe-repayments has a deploy token gitlab already"));
    let wrong = browser.send("/console/slices", "add-token", &[("slice", "repayments")]).await;
    assert_eq!(wrong.status, 422);
    assert!(words(&wrong).contains("The name of a slice is mfe- and"), "{}", words(&wrong));

    let which = &fields[..2];
    let page = browser.get("/console/slices").await;
    let revoke = form(&page, "aria-label=\"Revoke gitlab of mfe-repayments\"");
    let asked = browser.send_as("/console/slices", &revoke).await;
    assert!(words(&asked).contains("Revoke gitlab of mfe-repayments?"), "{}", words(&asked));
    let page = browser.done("/console/slices", "revoke-token", which).await;
    assert!(page.contains("The token gitlab of mfe-repayments is revoked."), "{page}");
    assert!(page.contains("No deploy tokens yet"), "{page}");
    assert_eq!(browser.send("/console/slices", "revoke-token", which).await.status, 404);
}

#[tokio::test]
async fn the_page_of_a_sandbox_has_deploy_tokens_for_the_operator_only() {
    let (app, _portal) = slices::started().await;
    let one = app.make_sandbox(json!({"name": "pr-12"})).await;
    let browser = Browser::sign_in(&one).await;
    let page = browser.get("/console/slices").await;
    assert_eq!(page.status, 200);
    assert!(!words(&page).contains("eploy token"), "{}", words(&page));
    for act in ["add-token", "revoke-token"] {
        let fields = [("slice", "mfe-plans"), ("name", "ci")];
        assert_eq!(browser.send("/console/slices", act, &fields).await.status, 404, "{act}");
    }
    assert_eq!(app.read_console("/deploy-tokens").await, json!([]));
}
