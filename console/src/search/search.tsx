import { Loader, Modal, VisuallyHidden } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { ErrorNotice } from '../components/error-notice.tsx'
import { Icon } from '../components/icon.tsx'
import { searchedReceiver } from '../model/transfers.ts'
import type { PageEntry } from '../pages.tsx'
import { searchQuery } from '../queries/search.ts'
import { remember } from '../session/recent.ts'
import type { Caller } from '../session/session.ts'
import { texts } from '../texts/texts.ts'
import type { SearchInput } from './early-keys.ts'
import { groupsFor, type Option, type OptionGroup } from './options.ts'
import classes from './search.module.css'

const LIST = 'search-results'
/** The longest text that the service searches for. */
const MAX_LENGTH = 128
/** The service is asked once the user pauses. */
const PAUSE_MS = 150

interface SearchProps {
  caller: Caller
  pages: readonly PageEntry[]
  input: SearchInput
  onInput: (input: SearchInput) => void
  onFieldFocus: () => void
  onClose: () => void
}

/** The search over users, quotas, messages, webhooks, pages and actions: a combobox with a listbox in a dialog. */
export default function Search(props: SearchProps) {
  return (
    <Modal.Root
      opened
      onClose={props.onClose}
      size="40rem"
      yOffset="8dvh"
      transitionProps={{ duration: 0 }}
      classNames={{ content: classes.dialog }}
    >
      <Modal.Overlay />
      <Modal.Content aria-label={texts.search.label}>
        <SearchBox {...props} />
      </Modal.Content>
    </Modal.Root>
  )
}

function SearchBox({ caller, pages, input, onInput, onFieldFocus, onClose }: SearchProps) {
  const [, navigate] = useLocation()
  const { text: typed, isEntered } = input
  const [chosen, setChosen] = useState<string | null>(null)
  const text = searchedReceiver(typed)
  const [searched] = useDebouncedValue(text, PAUSE_MS)
  const search = useQuery(searchQuery(searched))
  const isSearching = text !== searched || search.isFetching || search.isPlaceholderData
  const groups = groupsFor(text, search.data, caller, pages)
  const options = groups.flatMap(group => group.options)
  const active = options.find(({ key }) => key === chosen) ?? options[0]

  function open(option: Option) {
    onClose()
    if (typeof option.target !== 'string') return option.target()
    if (option.isKept) remember(caller.subject, { href: option.target, icon: option.icon, label: option.label })
    navigate(option.target)
  }
  useEffect(() => {
    if (!isEntered || isSearching) return
    onInput({ text: typed, isEntered: false })
    if (active !== undefined) open(active)
  })
  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Enter') {
      // The answer to the text may put another option first.
      if (isSearching && chosen === null) onInput({ text: typed, isEntered: true })
      else if (active !== undefined) open(active)
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      setChosen(neighborOf(active, options, event.key === 'ArrowDown' ? 1 : -1))
    }
  }
  return (
    <>
      <div className={classes.head}>
        <Icon name="search" />
        <input
          className={classes.input}
          role="combobox"
          aria-label={texts.search.label}
          aria-expanded={options.length > 0}
          aria-controls={LIST}
          aria-autocomplete="list"
          aria-activedescendant={active && idOf(active)}
          placeholder={texts.search.placeholder}
          maxLength={MAX_LENGTH}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          value={typed}
          onFocus={onFieldFocus}
          onKeyDown={onKeyDown}
          onChange={event => {
            onInput({ text: event.currentTarget.value, isEntered: false })
            setChosen(null)
          }}
        />
        {isSearching && <Loader size="xs" />}
        <Modal.CloseButton aria-label={texts.search.close} />
      </div>
      <VisuallyHidden role="status">{!isSearching && texts.search.results(options.length)}</VisuallyHidden>
      <ErrorNotice variant="action" error={search.error} />
      <Results groups={groups} active={active} onOpen={open} />
      {groups.length === 0 && !isSearching && <p className={classes.note}>{texts.search.nothing}</p>}
    </>
  )
}

/** The key of the next or previous option; after the last comes the first. */
function neighborOf(active: Option | undefined, options: readonly Option[], step: 1 | -1): string | null {
  const at = active === undefined ? -1 : options.indexOf(active)
  return options.at((at + step) % options.length)?.key ?? null
}

interface ResultsProps {
  groups: readonly OptionGroup[]
  active: Option | undefined
  onOpen: (option: Option) => void
}

function Results({ groups, active, onOpen }: ResultsProps) {
  const shown = active && idOf(active)
  useEffect(() => {
    if (shown !== undefined) document.getElementById(shown)?.scrollIntoView({ block: 'nearest' })
  }, [shown])
  return (
    <div id={LIST} role="listbox" aria-label={texts.search.list} className={classes.list}>
      {groups.map(({ label, options, note }) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is no group of options
        <div key={label} role="group" aria-label={note === undefined ? label : `${label}. ${note}`}>
          <div className={classes.group} aria-hidden>
            {label}
            {note !== undefined && <span className={classes.about}> {note}</span>}
          </div>
          {options.map(option => (
            // The focus stays in the field, which handles the keys.
            // biome-ignore lint/a11y/useKeyWithClickEvents: see above
            // biome-ignore lint/a11y/useFocusableInteractive: see above
            <div
              key={option.key}
              id={idOf(option)}
              role="option"
              aria-selected={option === active}
              className={classes.option}
              onClick={() => onOpen(option)}
            >
              <Icon name={option.icon} />
              <span className={classes.text}>
                <bdi>{option.label}</bdi>
                {option.about !== undefined && (
                  <span className={classes.about}>
                    <bdi>{option.about}</bdi>
                  </span>
                )}
              </span>
            </div>
          ))}
        </div>
      ))}
    </div>
  )
}

function idOf({ key }: Option): string {
  return `search ${key}`.replaceAll(' ', '-')
}
