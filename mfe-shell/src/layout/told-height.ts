/** A ref to a part that stays in sight, which tells the style sheets how high it is, as this property of the page. */
const heightAs = (property: '--notices-height' | '--story') => (part: HTMLElement | null) => {
  if (!part) return;
  const { style } = document.documentElement;
  const measure = () => style.setProperty(property, `${part.offsetHeight}px`);
  const sizes = new ResizeObserver(measure);
  sizes.observe(part);
  measure();
  return () => {
    sizes.disconnect();
    style.removeProperty(property);
  };
};

export const noticesHeight = heightAs('--notices-height');
export const storyHeight = heightAs('--story');
