import { Link, useLocation } from 'wouter'
import classes from './views.module.css'

interface View {
  label: string
  href: string
}

/** The pages of one user: each has an address of its own. */
export function Views({ views }: { views: readonly View[] }) {
  const [location] = useLocation()
  return (
    <nav aria-label="Views" className={classes.views}>
      {views.map(({ label, href }) => (
        <Link
          key={href}
          href={href}
          className={classes.view ?? ''}
          aria-current={href === location ? 'page' : undefined}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
