/** What a development build calls to create elements, in terms of what a production React offers. */
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';

export { Fragment };

export function jsxDEV(type, props, key, isStatic) {
  return (isStatic ? jsxs : jsx)(type, props, key);
}
