import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Badge } from '../../components/badge.tsx'
import info from '../../components/info.module.css'
import { formatClock } from '../../formats.ts'
import { type Finding, findingsOf } from '../../model/overview.ts'
import { texts } from '../../texts/texts.ts'
import classes from './overview.module.css'

const { strip } = texts.overview

/** One line: all is well, or what is not, the most urgent first. */
export function Strip({ overview }: { overview: Api['Overview'] }) {
  const findings = findingsOf(overview)
  const said = findings.map(finding => textOf(finding, overview))
  return (
    <section className={classes.strip} aria-label={strip.title}>
      {findings.length === 0 ? (
        <Badge tone="good">{strip.allWell(formatClock(overview.as_of))}</Badge>
      ) : (
        <ul data-plain>
          {findings.map((finding, index) => (
            <li key={finding.kind}>
              <Badge tone={finding.isUrgent ? 'bad' : 'held'}>
                <FindingText href={finding.href} text={said[index] ?? ''} />
              </Badge>
            </li>
          ))}
        </ul>
      )}
      <Info label={strip.how} text={strip.about} />
      <Announcement text={findings.length === 0 ? strip.title : said.join(', ')} />
    </section>
  )
}

function FindingText({ href, text }: { href: string | null; text: string }) {
  if (href === null) return text
  return (
    <Anchor component={Link} href={href} inherit>
      {text}
    </Anchor>
  )
}

function textOf({ kind, count, isMore = false }: Finding, { not_ready, unread }: Api['Overview']): string {
  if (kind === 'service') return strip.service(not_ready ?? '')
  if (kind === 'unread') return strip.unread(unread.map(({ part }) => strip.parts[part]))
  return strip.findings[kind](count, isMore)
}

/** How figures come about, for those who ask: behind an "i", so that it takes no room. @param label what it is about */
function Info({ label, text }: { label: string; text: string }) {
  return (
    <details className={info.info}>
      <summary aria-label={label}>
        <span aria-hidden>{SIGN}</span>
      </summary>
      <p>{text}</p>
    </details>
  )
}

const SIGN = 'i'
