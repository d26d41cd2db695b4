import 'mfe-kit/styles.css';

/** Lets the browser draw, and answer whoever clicks, between two pieces of work. */
const breathe = () => new Promise((resolve) => setTimeout(resolve));

// The libraries run first, one by one: all in one piece, they would hold a slow phone for a second.
await import(/* webpackMode: "eager" */ 'react-dom/client');
await breathe();
await import(/* webpackMode: "eager" */ 'react-router');
await breathe();
await import(/* webpackMode: "eager" */ 'mfe-kit/ui');
await breathe();
await import(/* webpackMode: "eager" */ './portal');

export {};
