//! The page of the slices.

use axum::http::StatusCode;

use crate::{
    browser::{Browser, words},
    slices,
};

#[tokio::test]
async fn a_build_is_activated_and_rolled_back_with_a_history() {
    let portal = slices::portal();
    let app = slices::start(&portal).await;
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

    let asked = browser.send("/console/slices", "remove", &[loans]).await;
    assert_eq!(asked.status, StatusCode::OK);
    assert!(words(&asked).contains("Remove this slice?"), "{}", words(&asked));
    let page = browser.done("/console/slices", "remove", &[loans, ("confirmed", "yes")]).await;
    assert!(page.contains("mfe-loans is back to the build that is bundled with the portal."), "{page}");
    assert!(page.contains("Removed"), "{page}");
    assert!(crate::browser::html(&browser.get("/console").await).contains(">Portal</a>"));

    let unknown = browser.send("/console/slices", "activate", &[loans, ("version", "0.9.0")]).await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    assert!(words(&unknown).contains("0.9.0"), "{}", words(&unknown));
    let nobody = browser.send("/console/slices", "roll-back", &[("name", "../etc")]).await;
    assert_eq!(nobody.status, StatusCode::NOT_FOUND);
    assert!(browser.read("/console/slices").await.contains("mfe-loans"), "the live build is untouched");
}
