//! Everything that RFC 8259 calls JSON is read, and nothing else: cases as in the usual suites for parsers of JSON,
//! each as the value of a field that a call does not know.

use axum::{
    body::Body,
    http::{Request, header},
};
use lending::demo;

use crate::test_app::TestApp;

/// Texts that are JSON.
const VALID: [&[u8]; 48] = [
    b"[]",
    b"{}",
    b"[ ]",
    b"[[]   ]",
    b"[\"\"]",
    b"[null, 1, \"1\", {}]",
    b"[\n1\n,1]",
    b" [1] ",
    b"null",
    b"true",
    b"false",
    b"42",
    b"-0",
    b"-0.1",
    b"0e1",
    b"0e+1",
    b"0E-1",
    b"1.5e99",
    b"123.456e78",
    b"1E22",
    b"-123",
    b"-1",
    b"1e-9999",
    b"20e1",
    b"123e65",
    b"0.4e-6",
    b"[1,null,null,null,2]",
    b"[2] ",
    b"\" \"",
    b"\"\\u0060\\u012a\"",
    b"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    b"\"\\\\u0000\"",
    b"\"\\\\a\"",
    b"\"\\uD801\\udc37\"",
    b"\"\\uDBFF\\uDFFF\"",
    b"\"\\uFFFF\"",
    b"\"\\u2028\"",
    b"\"\xc3\xa9\"",
    b"\"\xf4\x8f\xbf\xbf\"",
    b"\"\xe2\x80\xa8\"",
    b"\"\x7f\"",
    b"\"asd\"",
    b"\"/* no comment */\"",
    b"{\"a\":\"b\",\"a\":\"c\"}",
    b"{\"\":0}",
    b"{\"a\\u0022b\": 26}",
    b"{\"x\":[{\"id\":\"xxxxxxxxxxxxxxxxxxxxxxxxx\"}]}",
    b"9007199254740993",
];

/// Texts that are not.
const INVALID: [&[u8]; 88] = [
    b"[1 true]",
    b"[a\xe5]",
    b"[\"\": 1]",
    b"[\"\"],",
    b"[,1]",
    b"[1,,2]",
    b"[\"x\",,]",
    b"[\"x\"]]",
    b"[\"\",]",
    b"[\"x\"",
    b"[x",
    b"[3[4]]",
    b"[\xff]",
    b"[1:2]",
    b"[,]",
    b"[-]",
    b"[   , \"\"]",
    b"[\"a\",\n4\n,1,",
    b"[1,]",
    b"[\"\x0ba\"\\f]",
    b"[*]",
    b"[\"\"",
    b"[1,",
    b"[{}",
    b"[fals]",
    b"[nul]",
    b"[tru]",
    b"[++1234]",
    b"[+1]",
    b"[+Inf]",
    b"[-01]",
    b"[-1.0.]",
    b"[-2.]",
    b"[-NaN]",
    b"[.-1]",
    b"[.2e-3]",
    b"[0.1.2]",
    b"[0.3e+]",
    b"[0.3e]",
    b"[0.e1]",
    b"[0E+]",
    b"[0E]",
    b"[1.0e+]",
    b"[1.0e-]",
    b"[1 000.0]",
    b"[1eE2]",
    b"[2.e+3]",
    b"[9.e+]",
    b"[Inf]",
    b"[NaN]",
    b"[1+2]",
    b"[0x1]",
    b"[Infinity]",
    b"[0e+-1]",
    b"[-123.123foo]",
    b"[-Infinity]",
    b"[-foo]",
    b"[- 1]",
    b"[-012]",
    b"[-.123]",
    b"[1ea]",
    b"[1.]",
    b"[.123]",
    b"[1.2a-3]",
    b"[012]",
    b"[\"x\", truth]",
    b"{[: \"x\"}",
    b"{\"x\", null}",
    b"{\"x\"::\"b\"}",
    b"{\"a\" \"b\"}",
    b"{:\"b\"}",
    b"{\"a\" b}",
    b"{key: 'value'}",
    b"{1:1}",
    b"{null:null}",
    b"{\"id\":0,}",
    b"{'a':0}",
    b"{\"a\":\"b\"}/**/",
    b"{\"a\":\"a\" 123}",
    b"[\"\\uD800\\u1x\"]",
    b"[\"\\u00A\"]",
    b"[\"\\x00\"]",
    b"[\"\\\xf0\x9f\x8c\x80\"]",
    b"[\"\\a\"]",
    b"[\"a\x00a\"]",
    b"[\"new\nline\"]",
    b"[\"\t\"]",
    b"<null>",
];

/// Texts about which the RFC lets parsers choose: any answer is right that is no failure of the server.
const EITHER: [&[u8]; 10] = [
    b"1e400",
    b"-1e9999",
    b"0.4e00669999999999999999999999999999999999999999999999999999",
    b"\"\\uDADA\"",
    b"\"\\uD888\\u1234\"",
    b"\"\\uDFAA\"",
    b"[\"\xe6\x97\xa5\xd1\x88\xfa\"]",
    b"[\"\xed\xa0\x80\"]",
    b"[\"\xc0\xaf\"]",
    b"100000000000000000000",
];

/// The status of a sign-in that has `text` as the value of a further field.
async fn sign_in_with(app: &TestApp, text: &[u8]) -> u16 {
    let known = format!(r#"{{"email":"agent@mkopo.test","password":"{}","x":"#, demo::PASSWORD);
    status(app, [known.as_bytes(), text, b"}"].concat()).await
}

async fn status(app: &TestApp, body: Vec<u8>) -> u16 {
    let request = Request::post("/api/v1/auth/login").header(header::CONTENT_TYPE, "application/json");
    app.send(request.body(Body::from(body)).unwrap()).await.status.as_u16()
}

#[tokio::test]
async fn what_is_json_is_read_and_nothing_else_is() {
    let app = TestApp::start().await;
    for text in VALID {
        assert_eq!(sign_in_with(&app, text).await, 200, "{}", text.escape_ascii());
    }
    for text in INVALID {
        assert_eq!(sign_in_with(&app, text).await, 400, "{}", text.escape_ascii());
    }
    for text in EITHER {
        let status = sign_in_with(&app, text).await;
        assert!([200, 400].contains(&status), "{status}: {}", text.escape_ascii());
    }
    for text in VALID.into_iter().chain(INVALID).chain(EITHER) {
        let status = status(&app, text.to_vec()).await;
        assert!([400, 422].contains(&status), "{status}, and no object: {}", text.escape_ascii());
    }
    let deep = [vec![b'['; 30_000], vec![b']'; 30_000]].concat();
    assert!([200, 400].contains(&sign_in_with(&app, &deep).await), "no stack overflows");
    assert!([400, 422].contains(&status(&app, deep).await));
}
