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
  const { colorScheme: chosenScheme, setColorScheme } = useMantineColorScheme()
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
        <Choices
          label={texts.shell.language}
          value={language}
          choices={LANGUAGE_TAGS}
          labels={LANGUAGES}
          onChoose={chooseLanguage}
          areLanguages
        />
        <Choices
          label={colorScheme.label}
          value={chosenScheme}
          choices={SCHEMES}
          labels={colorScheme}
          onChoose={setColorScheme}
        />
        <Choices
          label={density.label}
          value={useDensity()}
          choices={DENSITIES}
          labels={density}
          onChoose={chooseDensity}
        />
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

interface ChoicesProps<Value extends string> {
  label: string
  value: Value
  choices: readonly Value[]
  labels: Readonly<Record<Value, string>>
  onChoose: (value: Value) => void
  /** Whether each choice is the name of a language, in that language. */
  areLanguages?: boolean
}

/** A choice that is stored in this browser. */
function Choices<Value extends string>({ label, value, choices, labels, onChoose, ...more }: ChoicesProps<Value>) {
  return (
    <Menu.RadioGroup value={value}>
      <Menu.Label>{label}</Menu.Label>
      {choices.map(one => (
        <Menu.RadioItem
          key={one}
          value={one}
          lang={more.areLanguages === true ? one : undefined}
          onChange={() => onChoose(one)}
        >
          {labels[one]}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  )
}
