/** Parts of the layout around the screens; loaded once somebody is signed in. */
export { default as Drawer } from 'antd/es/drawer';
export { MenuButton, type MenuItem } from './ui/MenuButton';
