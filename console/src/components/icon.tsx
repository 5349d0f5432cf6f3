/** The icons of the console: strokes on a grid of 24 by 24, in the color of the text. */
const PATHS = {
  overview: 'M3 13h4l3-8 4 14 3-8h4',
  quotas: 'M12 3 3 8l9 5 9-5zM3 12.5l9 5 9-5M3 17l9 5 9-5',
  plans: 'M5 3h14v18H5zM9 8h6M9 12h6M9 16h3',
  prices: 'M4 4h7l9 9-7 7-9-9zM8 8h.01',
  denials: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM5.6 5.6l12.8 12.8',
  users:
    'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21v-1a6 6 0 0 1 6-6h2a6 6 0 0 1 6 6v1M16 3.4a4 4 0 0 1 0 7.2M18 14.3a6 6 0 0 1 4 5.7v1',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21v-1a6 6 0 0 1 6-6h4a6 6 0 0 1 6 6v1',
  webhooks: 'M4 20 20 4M10 4h10v10M4 11v9h9',
  message: 'M4 5h16v11H10l-5 4v-4H4z',
  mine: 'M4 6h14a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2zM4 6l11-3v3M20 11h-5a2 2 0 0 0 0 4h5',
  cost: 'M6 3h12v18H6zM9 7h6M9 12h.01M12 12h.01M15 12h.01M9 16h.01M12 16h.01M15 16h.01',
  start: 'M9 6h12M9 12h12M9 18h12M3 6l1.2 1.2L6.5 5M3 12l1.2 1.2L6.5 11M3 18l1.2 1.2L6.5 17',
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.3 15.3 20.5 20.5',
  plus: 'M12 5v14M5 12h14',
  language: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c5 5 5 13 0 18M12 3c-5 5-5 13 0 18',
  scheme: 'M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18',
  docs: 'M6 3h9l4 4v14H6zM14 3v5h5M9 13h7M9 17h7',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  signOut: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3.5 2',
  requests: 'M4 12h4l2 3h4l2-3h4M4 12v7h16v-7M12 10V3M8.5 6.5 12 3l3.5 3.5',
  pause: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM10 9v6M14 9v6',
  more: 'M12 6h.01M12 12h.01M12 18h.01',
  columns: 'M4 5h16v14H4zM10 5v14M15 5v14',
  upload: 'M12 16V5M7.5 9.5 12 5l4.5 4.5M4 16v4h16v-4',
  download: 'M12 4v11M7.5 10.5 12 15l4.5-4.5M4 16v4h16v-4',
  close: 'M6 6l12 12M18 6 6 18',
  grant: 'M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8',
  cap: 'M4 4h16M12 20V9M7 13.5l5-5 5 5',
} as const

export type IconName = keyof typeof PATHS

export function isIconName(name: string): name is IconName {
  return Object.hasOwn(PATHS, name)
}

/** Decorates a text or a control that has a name of its own. @param size in pixels */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
