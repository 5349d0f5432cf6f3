/** What a search opened last, in this browser. */
export interface Recent {
  href: string
  /** The name of an icon, as an earlier version may have written it. */
  icon: string
  label: string
}

const STORED = 'sms-quota.recent'
const MAX_RECENT = 6

/** Newest first, at most `MAX_RECENT`; empty for a subject other than the last one, who must not see them. */
export function recentOf(subject: string): Recent[] {
  try {
    const stored = JSON.parse(localStorage.getItem(STORED) ?? 'null')
    return stored?.subject === subject && Array.isArray(stored.items) ? stored.items : []
  } catch {
    // An earlier version or the user has written something else.
    return []
  }
}

export function remember(subject: string, opened: Recent): void {
  const others = recentOf(subject).filter(({ href }) => href !== opened.href)
  const items = [opened, ...others].slice(0, MAX_RECENT)
  localStorage.setItem(STORED, JSON.stringify({ subject, items }))
}

export function forgetRecent(): void {
  localStorage.removeItem(STORED)
}
