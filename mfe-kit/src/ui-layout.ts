/** Parts of the layout around the screens; loaded once a user is signed in. */
export { MenuButton, type MenuItem } from './ui/MenuButton';
