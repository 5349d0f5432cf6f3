import { type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core'
import { Link } from 'wouter'
import { chooseDensity, DENSITIES, useDensity } from '../components/density.ts'
import { Icon } from '../components/icon.tsx'
import { readsAllUsers } from '../session/rights.ts'
import { type Caller, signOut } from '../session/session.ts'
import { chooseLanguage, LANGUAGE_TAGS, LANGUAGES, language } from '../texts/language.ts'
import { texts } from '../texts/texts.ts'
import { AccountButton } from './account-button.tsx'
import classes from './shell.module.css'

const { account, colorScheme, density, roles } = texts.shell
const SCHEMES: readonly MantineColorScheme[] = ['auto', 'light', 'dark']

interface AccountMenuProps {
  caller: Caller
  isOpen: boolean
  onChange: (isOpen: boolean) => void
}

/** Who is signed in, the choices of this browser (language, color scheme, density), and the way out. */
export default function AccountMenu({ caller, isOpen, onChange }: AccountMenuProps) {
  return (
    <Menu
      opened={isOpen}
      onChange={onChange}
      position="bottom-end"
      width={260}
      transitionProps={{ duration: 0 }}
      // Inside of the header, so that it belongs to a landmark; and no focusable part without a role.
      withinPortal={false}
      withInitialFocusPlaceholder={false}
    >
      <Menu.Target>
        <AccountButton caller={caller} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className={classes.signedIn}>
          <span>{account.signedInAs(caller.name ?? caller.subject)}</span>
          {caller.roles.length > 0 && <span>{caller.roles.map(role => roles[role]).join(', ')}</span>}
        </Menu.Label>
        <Menu.Divider />
        <Languages />
        <ColorSchemes />
        <Densities />
        <Menu.Divider />
        {readsAllUsers(caller) && (
          <>
            {caller.user_id !== null && (
              <Menu.Item component={Link} href="/mine" leftSection={<Icon name="mine" />}>
                {texts.shell.pages.mine}
              </Menu.Item>
            )}
            <Menu.Item component={Link} href="/cost" leftSection={<Icon name="cost" />}>
              {texts.shell.pages.cost}
            </Menu.Item>
          </>
        )}
        <Menu.Item component="a" href="/docs" leftSection={<Icon name="docs" />}>
          {account.docs}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="signOut" />} onClick={signOut}>
          {account.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** The language of the page. Stored in this browser. */
function Languages() {
  return (
    <Menu.RadioGroup value={language}>
      <Menu.Label>{texts.shell.language}</Menu.Label>
      {LANGUAGE_TAGS.map(tag => (
        <Menu.RadioItem key={tag} value={tag} lang={tag} onChange={() => chooseLanguage(tag)}>
          {LANGUAGES[tag]}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  )
}

/** Light, dark, or as in the system settings. Stored in this browser. */
function ColorSchemes() {
  const { colorScheme: chosen, setColorScheme } = useMantineColorScheme()
  return (
    <Menu.RadioGroup value={chosen}>
      <Menu.Label>{colorScheme.label}</Menu.Label>
      {SCHEMES.map(scheme => (
        <Menu.RadioItem key={scheme} value={scheme} onChange={() => setColorScheme(scheme)}>
          {colorScheme[scheme]}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  )
}

/** How close the rows of tables are. Stored in this browser. */
function Densities() {
  return (
    <Menu.RadioGroup value={useDensity()}>
      <Menu.Label>{density.label}</Menu.Label>
      {DENSITIES.map(value => (
        <Menu.RadioItem key={value} value={value} onChange={() => chooseDensity(value)}>
          {density[value]}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  )
}
