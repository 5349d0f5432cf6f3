import { TagsInput } from '@mantine/core'
import { useState } from 'react'
import { countryName, formatList } from '../formats.ts'
import { countryOptions } from '../model/countries.ts'
import { type PauseField, type PauseValues, pauseTerms, wrongFields } from '../model/pauses.ts'
import { useMakePauses, usersOf } from '../queries/pauses.ts'
import { texts } from '../texts/texts.ts'
import { ChoicesField } from './choice-field.tsx'
import { useDialogInput } from './dialog.tsx'
import { Form } from './form.tsx'
import { RadioField } from './radio-field.tsx'
import { TextField } from './text-field.tsx'

const { form: words } = texts.pauses

interface PauseFormProps {
  initial: Partial<PauseValues>
  /** Receives a confirmation message. */
  onDone: (message: string) => void
}

/** Pauses countries, for one user or for all: a pause for each. */
export default function PauseForm({ initial, onDone }: PauseFormProps) {
  const [first] = useState<PauseValues>({ ...EMPTY, ...initial })
  const [values, setValues] = useState(first)
  const [isTried, setTried] = useState(false)
  const { who, countries } = values
  const making = useMakePauses(() => onDone(words.done(formatList(countries.map(countryName)))))
  const wrong = isTried ? wrongFields(values, Date.now()) : []
  const errorOf = (field: PauseField) => wrong.includes(field) && words.errors[field]
  useDialogInput(JSON.stringify(values) !== JSON.stringify(first))

  const change = (part: Partial<PauseValues>) => setValues({ ...values, ...part })
  function submit() {
    setTried(true)
    if (wrongFields(values, Date.now()).length > 0) return
    making.mutate({ users: () => usersOf(values), countries, terms: pauseTerms(values) })
  }
  return (
    <Form
      sending={making}
      remedy={words.part}
      onSubmit={submit}
      submit={words.submit(Math.max(1, countries.length))}
      isDanger
      beside={null}
    >
      <RadioField
        label={words.who}
        about={who === 'all' && words.forAll}
        value={who}
        onChange={chosen => change({ who: chosen })}
        choices={['one', 'all']}
        labels={words.whoLabels}
      />
      {who === 'one' && (
        <TextField
          label={words.user}
          value={values.user}
          onChange={user => change({ user })}
          error={errorOf('user_id')}
          required
        />
      )}
      <Destination values={values} change={change} errorOf={errorOf} />
      <PauseReason value={values.reason} onChange={reason => change({ reason })} isWrong={wrong.includes('reason')} />
    </Form>
  )
}

interface DestinationProps {
  values: PauseValues
  change: (part: Partial<PauseValues>) => void
  errorOf: (field: PauseField) => string | false
}

/** What is paused, and until when. */
function Destination({ values, change, errorOf }: DestinationProps) {
  return (
    <>
      <ChoicesField
        label={words.countries}
        about={words.countriesAbout}
        options={countryOptions(values.countries)}
        value={values.countries}
        onChange={chosen => change({ countries: [...chosen] })}
        error={errorOf('country')}
        isRequired
      />
      <TagsInput
        label={words.types}
        description={words.typesAbout}
        value={values.message_types}
        onChange={message_types => change({ message_types })}
        error={errorOf('message_types')}
        splitChars={[',', ' ']}
        acceptValueOnBlur
      />
      <TextField
        type="datetime-local"
        label={words.until}
        about={words.untilAbout}
        value={values.until}
        onChange={until => change({ until })}
        error={errorOf('until')}
      />
    </>
  )
}

const EMPTY: PauseValues = { who: 'one', user: '', countries: [], message_types: [], until: '', reason: '' }

interface PauseReasonProps {
  value: string
  onChange: (reason: string) => void
  isWrong: boolean
}

/** Why a destination is paused. The API does not require it; people who meet the pause later need it. */
export function PauseReason({ value, onChange, isWrong }: PauseReasonProps) {
  return (
    <TextField
      label={words.reason}
      about={words.reasonAbout}
      required
      maxLength={500}
      value={value}
      onChange={onChange}
      error={isWrong && words.errors.reason}
    />
  )
}
