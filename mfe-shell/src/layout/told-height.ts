/** A ref to a part that stays in sight, which tells the style sheets how high it is, as this property of the page. */
const heightAs = (property: '--notices-height' | '--story') => (part: HTMLElement | null) => {
  if (!part) return;
  const { style } = document.documentElement;
  const measure = () => style.setProperty(property, `${part.offsetHeight}px`);
  const sizes = new ResizeObserver(() => {
    measure();
    uncoverFocus();
  });
  sizes.observe(part);
  measure();
  return () => {
    sizes.disconnect();
    style.removeProperty(property);
  };
};

export const noticesHeight = heightAs('--notices-height');
export const storyHeight = heightAs('--story');

/** A part that has grown may cover the control that has the focus, which then is scrolled into sight (WCAG 2.4.11). */
function uncoverFocus() {
  const control = document.activeElement;
  if (!control) return;
  const { left, top, width, height } = control.getBoundingClientRect();
  const hit = document.elementFromPoint(left + width / 2, top + height / 2);
  if (hit && !hit.contains(control) && !control.contains(hit)) control.scrollIntoView({ block: 'nearest' });
}
