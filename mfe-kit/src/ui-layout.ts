/** Parts of the layout around the screens; loaded once somebody is signed in. */
export { MenuButton, type MenuItem } from './ui/MenuButton';
