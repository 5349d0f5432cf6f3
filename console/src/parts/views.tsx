import { Link } from 'wouter'
import classes from './views.module.css'

export interface View {
  label: string
  href: string
  isCurrent: boolean
}

/** The way between several views of the same thing, each with an address of its own. @param label what they are views of */
export function Views({ label, views }: { label: string; views: readonly View[] }) {
  return (
    <nav aria-label={label} className={classes.views}>
      {views.map(view => (
        <Link
          key={view.href}
          href={view.href}
          className={classes.view ?? ''}
          aria-current={view.isCurrent ? 'page' : undefined}
        >
          {view.label}
        </Link>
      ))}
    </nav>
  )
}
