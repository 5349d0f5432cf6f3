import { Link } from 'wouter'
import classes from './tab-nav.module.css'

export interface Tab {
  label: string
  href: string
  isCurrent: boolean
}

/** Links between the sections of a page, each with its own URL. @param label the accessible name */
export function TabNav({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  return (
    <nav aria-label={label} className={classes.tabs}>
      {tabs.map(tab => (
        <Link key={tab.href} href={tab.href} className={classes.tab} aria-current={tab.isCurrent ? 'page' : undefined}>
          {tab.label}
        </Link>
      ))}
    </nav>
  )
}
