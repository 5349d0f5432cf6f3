import classes from './info.module.css'

/** How figures come about, for those who ask: behind an "i", so that it takes no room. @param label what it is about */
export function Info({ label, text }: { label: string; text: string }) {
  return (
    <details className={classes.info}>
      <summary aria-label={label}>
        <span aria-hidden>{SIGN}</span>
      </summary>
      <p>{text}</p>
    </details>
  )
}

const SIGN = 'i'
