/** Parts that every screen can draw with; the shell's first bundle carries them. */
export { default as Button } from 'antd/es/button';
export { default as Checkbox } from 'antd/es/checkbox/Checkbox';
export { default as Input } from 'antd/es/input/Input';
export { type InputRef } from 'antd/es/input/Input';
export { ThemeProvider } from './theme/ThemeProvider';
export { Avatar } from './ui/Avatar';
export { Brand } from './ui/Brand';
export { Card } from './ui/Card';
export { CopyButton } from './ui/CopyButton';
export { Field } from './ui/Field';
export { Icon, type IconName } from './ui/Icon';
export { Note } from './ui/Note';
export { PageHeader } from './ui/PageHeader';
export { Spinner } from './ui/Spinner';
export { EmptyState, FailedState, LoadingState } from './ui/StatePanel';
export { StatusTag, type Tone } from './ui/StatusTag';
export { ThemeToggle } from './ui/ThemeToggle';
export { TimeAgo } from './ui/TimeAgo';
