import { AppShell, Burger, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import type { PageEntry } from '../pages.ts'
import { Account } from './account.tsx'
import { AwayNotice } from './away-notice.tsx'
import { ColourScheme } from './colour-scheme.tsx'
import iconUrl from './icon.svg'
import classes from './shell.module.css'

/** What stands around every page: header, navigation, and a word when the service is away. */
export function Shell({ pages, children }: { pages: readonly PageEntry[]; children: ReactNode }) {
  const [location] = useLocation()
  const [isOpen, { toggle, close }] = useDisclosure()

  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={0}
      transitionDuration={0}
    >
      <a className={classes.skip} href="#content">
        Skip to content
      </a>
      <AppShell.Header className={classes.header}>
        <Burger
          opened={isOpen}
          onClick={toggle}
          hiddenFrom="sm"
          size="sm"
          aria-label={isOpen ? 'Close navigation' : 'Open navigation'}
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
          <ColourScheme />
          <Account />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar id="navigation" data-closed={!isOpen || undefined} className={classes.navbar} aria-label="Pages">
        <ul className={classes.pages}>
          {pages.map(
            ({ path, label }) =>
              label && <NavItem key={path} path={path} label={label} location={location} onClick={close} />,
          )}
        </ul>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} className={classes.main}>
        <AwayNotice />
        <div className={classes.page}>{children}</div>
      </AppShell.Main>
    </AppShell>
  )
}

interface NavItemProps {
  path: string
  label: string
  location: string
  /** On narrow screens the navigation has done its work then. */
  onClick: () => void
}

function NavItem({ path, label, location, onClick }: NavItemProps) {
  const isHere = location === path
  const isWithin = location.startsWith(`${path}/`)
  return (
    <li>
      <Link
        href={path}
        onClick={onClick}
        className={classes.link ?? ''}
        aria-current={isHere ? 'page' : isWithin ? 'true' : undefined}
      >
        {label}
      </Link>
    </li>
  )
}
