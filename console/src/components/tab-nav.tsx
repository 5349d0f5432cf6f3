import { Link, useLocation } from 'wouter'
import classes from './tab-nav.module.css'

interface Tab {
  label: string
  href: string
  /** By default, that of the URL's path. */
  isCurrent?: boolean
}

/** Links between the sections of a page, each with its own URL. @param label the accessible name */
export function TabNav({ label: name, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [location] = useLocation()
  return (
    <nav aria-label={name} className={classes.tabs}>
      {tabs.map(({ label, href, isCurrent = href === location }) => (
        <Link key={href} href={href} className={classes.tab} aria-current={isCurrent ? 'page' : undefined}>
          {label}
        </Link>
      ))}
    </nav>
  )
}
