import { Link, useLocation } from 'wouter'
import { oneOf } from '../../parts/url-state.ts'
import classes from './views.module.css'

const LABELS = { settings: 'Settings', windows: 'Past windows', history: 'History' }
const VIEWS = ['settings', 'windows', 'history'] as const
type View = (typeof VIEWS)[number]

/** What the page of a quota shows: what of it, and from where on the list there goes. */
export const QUOTA_ADDRESS = {
  view: oneOf([...VIEWS, 'edit'], 'settings'),
  cursor: (text: string | null) => text,
}

interface ViewsProps {
  of: readonly View[]
  current: string
}

/** The way between what there is to see of a quota. */
export function Views({ of, current }: ViewsProps) {
  const [location] = useLocation()
  return (
    <nav className={classes.views} aria-label="What of the quota">
      {of.map(view => (
        <Link
          key={view}
          href={view === of[0] ? location : `${location}?view=${view}`}
          className={classes.view ?? ''}
          aria-current={view === current ? 'page' : undefined}
        >
          {LABELS[view]}
        </Link>
      ))}
    </nav>
  )
}
