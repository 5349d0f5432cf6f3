import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { Icon } from '../../components/icon.tsx'
import { useStored } from '../../components/stored.ts'
import { filterCount, type ListState, searchOf, UNFILTERED } from '../../model/quota-lists.ts'
import { texts } from '../../texts/texts.ts'
import classes from './quotas.module.css'

/** Filters and an order with a name. */
interface View {
  name: string
  /** As the query string of the list. */
  search: string
}

const { views } = texts.quotas
const BUILT_IN: readonly View[] = [
  { name: views.all, search: '' },
  { name: views.endsThisWeek, search: searchOf({ ends_within: '7', sort: 'expires_at' }) },
  { name: views.exhausted, search: searchOf({ status: 'exhausted' }) },
  { name: views.suspended, search: searchOf({ status: 'suspended' }) },
  { name: views.scheduled, search: searchOf({ status: 'scheduled' }) },
  { name: views.caps, search: searchOf({ kind: 'cap' }) },
]

/** Saved views that a browser keeps. */
const MAX_SAVED = 20

function readViews(stored: unknown): View[] {
  const entries: unknown[] = Array.isArray(stored) ? stored : []
  return entries.filter(isView).slice(0, MAX_SAVED)
}

function isView(entry: unknown): entry is View {
  if (typeof entry !== 'object' || entry === null) return false
  return 'name' in entry && typeof entry.name === 'string' && 'search' in entry && typeof entry.search === 'string'
}

/** Named filters: those that come with the console, and those that the reader has saved in this browser. */
export function Views({ state }: { state: ListState }) {
  const [saved, setSaved] = useStored('sms-quota.quota-views', readViews)
  const current = searchOf(state)
  const all = [...BUILT_IN, ...saved]
  const isKnown = all.some(({ search }) => search === current)
  return (
    <nav className={classes.views} aria-label={views.label}>
      {BUILT_IN.map(view => (
        <ViewLink key={view.name} view={view} current={current} />
      ))}
      {saved.map(view => (
        <span key={view.name} className={classes.saved}>
          <ViewLink view={view} current={current} />
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            aria-label={views.remove(view.name)}
            onClick={() => setSaved(saved.filter(other => other !== view))}
          >
            <Icon name="close" size={14} />
          </Button>
        </span>
      ))}
      {!isKnown && (filterCount(state) > 0 || state.sort !== UNFILTERED.sort) && (
        <SaveView
          key={current}
          taken={all.map(({ name }) => name)}
          isFull={saved.length >= MAX_SAVED}
          onSave={name => setSaved([...saved, { name, search: current }])}
        />
      )}
    </nav>
  )
}

function ViewLink({ view: { name, search }, current }: { view: View; current: string }) {
  return (
    <Link
      href={search === '' ? '/quotas' : `/quotas?${search}`}
      className={classes.view}
      aria-current={search === current ? 'page' : undefined}
    >
      {name}
    </Link>
  )
}

interface SaveViewProps {
  taken: readonly string[]
  isFull: boolean
  onSave: (name: string) => void
}

function SaveView({ taken, isFull, onSave }: SaveViewProps) {
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState('')
  const trimmed = name.trim()
  const isTaken = taken.includes(trimmed)

  function save(event: FormEvent) {
    event.preventDefault()
    if (trimmed !== '' && !isTaken) onSave(trimmed)
  }
  if (!isOpen)
    return (
      <Button
        variant="subtle"
        size="compact-sm"
        leftSection={<Icon name="plus" size={14} />}
        onClick={() => setOpen(true)}
      >
        {views.save}
      </Button>
    )
  if (isFull) return <span>{views.full(MAX_SAVED)}</span>
  return (
    <form className={classes.save} onSubmit={save}>
      <TextInput
        size="xs"
        aria-label={views.name}
        placeholder={views.name}
        maxLength={40}
        data-autofocus
        autoFocus
        value={name}
        onChange={event => setName(event.currentTarget.value)}
        onKeyDown={event => event.key === 'Escape' && setOpen(false)}
        error={isTaken && views.nameTaken}
      />
      <Button type="submit" size="xs">
        {views.confirm}
      </Button>
      <Button variant="subtle" size="xs" onClick={() => setOpen(false)}>
        {views.cancel}
      </Button>
    </form>
  )
}
