import 'mfe-kit/styles.css';

/** Lets the browser draw and handle input between two pieces of work. */
const yieldToBrowser = () => new Promise((resolve) => setTimeout(resolve));

// The libraries run first, one by one: in one piece, they would block a slow phone for a second.
await import(/* webpackMode: "eager" */ 'react-dom/client');
await yieldToBrowser();
await import(/* webpackMode: "eager" */ 'react-router');
await yieldToBrowser();
await import(/* webpackMode: "eager" */ 'mfe-kit/ui');
await yieldToBrowser();
await import(/* webpackMode: "eager" */ './portal');

export {};
