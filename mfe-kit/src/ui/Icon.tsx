import classes from './Icon.module.css';

const PATHS = {
  home: 'M3 10.5 12 3l9 7.5V20a1 1 0 0 1-1 1h-5v-6H9v6H4a1 1 0 0 1-1-1z',
  clock: 'M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0M12 7v5l3.5 2',
  transfer: 'M7 4 3 8l4 4M3 8h14M17 12l4 4-4 4M21 16H7',
  settings:
    'M9 12a3 3 0 1 0 6 0a3 3 0 1 0-6 0M12 2v3M12 19v3M2 12h3M19 12h3M4.9 4.9 7 7M17 17l2.1 2.1M4.9 19.1 7 17M17 7l2.1-2.1',
  moon: 'M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z',
  sun: 'M8 12a4 4 0 1 0 8 0a4 4 0 1 0-8 0M12 2v2M12 20v2M2 12h2M20 12h2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4',
  bell: 'M6 16V11a6 6 0 1 1 12 0v5l2 2H4zM10 21h4',
  down: 'm6 9 6 6 6-6',
  back: 'M19 12H5M11 6l-6 6 6 6',
  menu: 'M4 7h16M4 12h16M4 17h16',
  search: 'M4 11a7 7 0 1 0 14 0a7 7 0 1 0-14 0M20 20l-4-4',
  filter: 'M4 6h16M7 12h10M10 18h4',
  success: 'M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0M8 12.5l2.7 2.7L16 9.5',
  failure: 'M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0M9 9l6 6M15 9l-6 6',
  alert: 'M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0M12 7v6M12 16.5v.1',
  info: 'M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0M12 11v6M12 7.5v.1',
  ascending: 'M12 19V5M6 11l6-6 6 6',
  descending: 'M12 5v14M6 13l6 6 6-6',
  money: 'M4 7h16v11H4zM4 10h16M8 15h3',
  calendar: 'M5 5h14v15H5zM5 10h14M9 3v4M15 3v4',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12.5 10 17.5 19 7',
  close: 'M6 6l12 12M18 6 6 18',
  send: 'M21 3 10 14M21 3l-7 18-4-7-7-4z',
  mail: 'M3 6h18v12H3zM3 7l9 7 9-7',
  user: 'M8 8a4 4 0 1 0 8 0a4 4 0 1 0-8 0M4 21a8 8 0 0 1 16 0',
  signOut: 'M10 4H4v16h6M15 8l4 4-4 4M19 12H9',
  first: 'm12 6-6 6 6 6M19 6l-6 6 6 6',
  previous: 'm14 6-6 6 6 6',
  next: 'm10 6 6 6-6 6',
  last: 'm5 6 6 6-6 6M12 6l6 6-6 6',
  empty: 'M4 13 7 5h10l3 8v6H4zM4 13h5l1 2h4l1-2h5',
  chart: 'M4 20V4M4 20h16M8 16v-4M13 16V8M18 16v-6',
  download: 'M12 4v11M7 10l5 5 5-5M4 20h16',
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon beside text, hidden from assistive technology. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      className={classes.icon}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
