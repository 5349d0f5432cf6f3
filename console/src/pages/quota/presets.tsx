import { Button, Group } from '@mantine/core'
import { Icon } from '../../components/icon.tsx'
import { LOCAL_ZONE } from '../../formats.ts'
import { countryOfZone } from '../../model/countries.ts'
import { toFieldText } from '../../model/local-time.ts'
import { emptyFormValues, type FormValues } from '../../model/quota-form.ts'
import { locale } from '../../texts/language.ts'
import { texts } from '../../texts/texts.ts'
import classes from './quota-form.module.css'

const TEXTS = texts.quota.form

type Preset = keyof typeof TEXTS.preset

const PER_VALUE = { kind: 'cap', counts: 'messages', period: 'day', time_zone: LOCAL_ZONE } as const

/** What a preset sets; the other fields get their defaults, and the user stays. */
const VALUES: Record<Preset, () => Partial<FormValues>> = {
  monthly: () => ({ kind: 'grant', limit: '1000', period: 'month', time_zone: LOCAL_ZONE }),
  prepaid: () => ({ kind: 'grant', limit: '5000', expires_at: inOneYear() }),
  dailyCap: () => ({ kind: 'cap', limit: '200', period: 'day', time_zone: LOCAL_ZONE }),
  countryCap: () => ({ kind: 'cap', limit: '500', period: 'month', time_zone: LOCAL_ZONE, countries: ownCountry() }),
  recipientCap: () => ({ ...PER_VALUE, limit: '3', period: 'hour', per: 'recipient', message_types: ['otp'] }),
  eachCountryCap: () => ({ ...PER_VALUE, limit: '500', per: 'country' }),
  tagCap: () => ({ ...PER_VALUE, limit: '1000', per: 'tag' }),
}

const PRESETS = Object.keys(VALUES) as Preset[]

/** Common quotas: one click fills the form. */
export function Presets({ values, onChange }: { values: FormValues; onChange: (values: FormValues) => void }) {
  function apply(preset: Preset) {
    const { user_id } = values
    onChange({ ...emptyFormValues(null), name: TEXTS.preset[preset].name, ...VALUES[preset](), user_id })
  }
  return (
    <Group gap="xs" mb="lg" role="group" aria-label={TEXTS.presets} className={classes.presets}>
      <span>{TEXTS.presets}</span>
      {PRESETS.map(preset => (
        <Button
          key={preset}
          variant="default"
          size="xs"
          title={TEXTS.preset[preset].about}
          leftSection={<Icon name={VALUES[preset]().kind ?? 'grant'} size={16} />}
          onClick={() => apply(preset)}
        >
          {TEXTS.preset[preset].label}
        </Button>
      ))}
    </Group>
  )
}

function inOneYear(): string {
  const date = new Date()
  date.setFullYear(date.getFullYear() + 1)
  date.setHours(0, 0, 0, 0)
  return toFieldText(date.toISOString())
}

/** The country of the browser's time zone or else of its locale, as an example that the user replaces: many have a locale of elsewhere. */
export function ownCountry(): string[] {
  const country = countryOfZone(LOCAL_ZONE) ?? new Intl.Locale(locale).maximize().region
  return country === undefined ? [] : [country]
}
