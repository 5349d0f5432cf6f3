import { AppShell, Burger, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import type { PageEntry } from '../pages.tsx'
import { readsAllUsers } from '../session/rights.ts'
import { useCaller } from '../session/session.ts'
import { texts } from '../texts/texts.ts'
import { Account } from './account.tsx'
import { ColorScheme, LanguageChoice } from './appearance.tsx'
import { GoToUser } from './go-to-user.tsx'
import iconUrl from './icon.svg'
import classes from './shell.module.css'
import { UnreachableNotice } from './unreachable-notice.tsx'

/** The frame of every page: header, navigation and connection banner. */
export function Shell({ pages, children }: { pages: readonly PageEntry[]; children: ReactNode }) {
  const caller = useCaller()
  const [location] = useLocation()
  const [isOpen, { toggle, close }] = useDisclosure()
  const content = useRef<HTMLElement>(null)
  const shown = useRef(location)
  useEffect(() => {
    if (shown.current === location) return
    shown.current = location
    // After a navigation, keyboard and screen readers continue at the top of the new page.
    content.current?.focus()
  }, [location])

  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={0}
      transitionDuration={0}
    >
      <a className={classes.skip} href="#content">
        {texts.shell.skip}
      </a>
      <AppShell.Header className={classes.header}>
        <Burger
          opened={isOpen}
          onClick={toggle}
          hiddenFrom="sm"
          size="sm"
          aria-label={isOpen ? texts.shell.closeNavigation : texts.shell.openNavigation}
          aria-expanded={isOpen}
          aria-controls="navigation"
        />
        <Link href="/" className={classes.brand ?? ''}>
          <img src={iconUrl} width={22} height={22} alt="" />
          <Text component="span" fw={600} size="sm">
            sms-quota
          </Text>
        </Link>
        <Group gap="xs" ml="auto" wrap="nowrap">
          <LanguageChoice />
          <ColorScheme />
          <Account />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        id="navigation"
        data-closed={!isOpen || undefined}
        className={classes.navbar}
        aria-label={texts.shell.navigation}
      >
        <ul className={classes.pages}>
          {pages.map(
            ({ path, label }) =>
              label && <NavItem key={path} path={path} label={label} location={location} onClick={close} />,
          )}
        </ul>
        {readsAllUsers(caller) && <GoToUser onGo={close} />}
      </AppShell.Navbar>
      <AppShell.Main ref={content} id="content" tabIndex={-1} className={classes.main}>
        <UnreachableNotice />
        <div className={classes.page}>{children}</div>
      </AppShell.Main>
    </AppShell>
  )
}

interface NavItemProps {
  path: string
  label: string
  location: string
  /** Closes the navigation on narrow screens. */
  onClick: () => void
}

function NavItem({ path, label, location, onClick }: NavItemProps) {
  const isCurrent = location === path
  const isWithin = location.startsWith(`${path}/`)
  return (
    <li>
      <Link
        href={path}
        onClick={onClick}
        className={classes.link ?? ''}
        aria-current={isCurrent ? 'page' : isWithin ? 'true' : undefined}
      >
        {label}
      </Link>
    </li>
  )
}
