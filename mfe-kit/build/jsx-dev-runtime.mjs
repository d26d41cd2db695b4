/** The JSX runtime of development builds, implemented with the production runtime of React. */
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';

export { Fragment };

export function jsxDEV(type, props, key, isStatic) {
  return (isStatic ? jsxs : jsx)(type, props, key);
}
