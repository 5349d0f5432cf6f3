import { Burger, Group, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useReachable } from '../api/reachability.ts'
import { Icon } from '../components/icon.tsx'
import type { PageEntry } from '../pages.tsx'
import { useSearchInput } from '../search/early-keys.ts'
import { readsAllUsers } from '../session/rights.ts'
import { type Caller, useCaller } from '../session/session.ts'
import { texts } from '../texts/texts.ts'
import { AccountButton } from './account-button.tsx'
import iconUrl from './icon.svg'
import { useTopOfNewPage } from './new-page.ts'
import classes from './shell.module.css'

const AccountMenu = lazy(() => import('./account-menu.tsx'))
const loadSearch = () => import('../search/search.tsx')
const Search = lazy(loadSearch)

/** The frame of every page: header, navigation and connection banner. */
export function Shell({ pages, children }: { pages: readonly PageEntry[]; children: ReactNode }) {
  const caller = useCaller()
  const [location] = useLocation()
  // Of narrow screens: another page closes it, however one came there.
  const [openAt, setOpenAt] = useState<string | null>(null)
  const isOpen = openAt === location
  useEffect(() => {
    if (!isOpen) return
    const close = ({ key }: KeyboardEvent) => key === 'Escape' && setOpenAt(null)
    addEventListener('keydown', close)
    return () => removeEventListener('keydown', close)
  }, [isOpen])
  const content = useRef<HTMLElement>(null)
  useTopOfNewPage(location, content)

  return (
    <div className={classes.shell}>
      <a className={classes.skip} href="#content">
        {texts.shell.skip}
      </a>
      <header className={classes.header}>
        <Burger
          opened={isOpen}
          onClick={() => setOpenAt(isOpen ? null : location)}
          hiddenFrom="sm"
          size="sm"
          aria-label={isOpen ? texts.shell.closeNavigation : texts.shell.openNavigation}
          aria-expanded={isOpen}
          aria-controls="navigation"
        />
        <Link href="/" className={classes.brand}>
          <img src={iconUrl} width={26} height={26} alt="" />
          <Text component="span" fw={600} size="sm">
            sms-quota
          </Text>
        </Link>
        <Group gap="xs" ml="auto" wrap="nowrap">
          {readsAllUsers(caller) && <SearchField caller={caller} pages={pages} />}
          <Account caller={caller} />
        </Group>
      </header>
      <nav
        id="navigation"
        data-closed={!isOpen || undefined}
        className={classes.navbar}
        aria-label={texts.shell.navigation}
      >
        <ul data-plain className={classes.pages}>
          {pages.map(
            page =>
              page.label && <NavItem key={page.path} page={page} location={location} onClick={() => setOpenAt(null)} />,
          )}
        </ul>
      </nav>
      <main ref={content} id="content" tabIndex={-1} className={classes.main}>
        <UnreachableNotice />
        <div className={classes.page}>{children}</div>
      </main>
    </div>
  )
}

/** A button that looks like a field, because the search is a dialog. It opens by Ctrl-K or ⌘K, too. */
function SearchField({ caller, pages }: { caller: Caller; pages: readonly PageEntry[] }) {
  const [isOpen, { open, close }] = useDisclosure()
  const { input, setInput, onFieldFocus } = useSearchInput(isOpen, close)
  useEffect(() => {
    // It opens at once then. If the service is away, it is loaded when it is opened.
    loadSearch().catch(() => {})
    function onKey(event: KeyboardEvent) {
      // With Caps Lock, it is a K.
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      open()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [open])
  return (
    <>
      <UnstyledButton className={classes.search} onClick={open} aria-keyshortcuts="Control+K Meta+K">
        <Icon name="search" />
        <span className={classes.searchLabel}>{texts.shell.search}</span>
        <kbd aria-hidden>{SHORTCUT}</kbd>
      </UnstyledButton>
      <Suspense>
        {isOpen && (
          <Search
            caller={caller}
            pages={pages}
            input={input}
            onInput={setInput}
            onFieldFocus={onFieldFocus}
            onClose={close}
          />
        )}
      </Suspense>
    </>
  )
}

const SHORTCUT = navigator.userAgent.includes('Mac') ? '⌘K' : texts.shell.controlK

/** The menu is loaded after the page; a click until then opens it as soon as it is there, also one during which the button is replaced. */
function Account({ caller }: { caller: Caller }) {
  const [isOpen, setOpen] = useState(false)
  const open = () => setOpen(true)
  return (
    <Suspense fallback={<AccountButton caller={caller} onMouseDown={open} onClick={open} />}>
      <AccountMenu caller={caller} isOpen={isOpen} onChange={setOpen} />
    </Suspense>
  )
}

interface NavItemProps {
  page: PageEntry
  location: string
  /** Closes the navigation on narrow screens. */
  onClick: () => void
}

function NavItem({ page: { path, label, icon }, location, onClick }: NavItemProps) {
  const isCurrent = location === path
  const isWithin = location.startsWith(`${path}/`)
  return (
    <li>
      <Link
        href={path}
        onClick={onClick}
        className={classes.link}
        aria-current={isCurrent ? 'page' : isWithin ? 'true' : undefined}
      >
        {icon && <Icon name={icon} />}
        {label}
      </Link>
    </li>
  )
}

/** A banner while the service is not responding. */
function UnreachableNotice() {
  const isReachable = useReachable()
  return <div role="status">{!isReachable && <p className={classes.unreachable}>{texts.shell.unreachable}</p>}</div>
}
