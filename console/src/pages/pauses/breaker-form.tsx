import { TagsInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { DEFAULT_BUDGETS } from '../../../../src/domain/pauses/breaker.ts'
import { BREAKER_MODES, MAX_BUDGET } from '../../../../src/domain/pauses/breaker-settings.ts'
import { isOutdated } from '../../api/problem.ts'
import { ChoicesField } from '../../components/choice-field.tsx'
import { Form, SavedState } from '../../components/form.tsx'
import { RadioField } from '../../components/radio-field.tsx'
import { Section } from '../../components/section.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useUnsavedInput } from '../../components/unsaved-input.ts'
import { UsersField } from '../../components/users-field.tsx'
import { countryName, formatList, formatPercent } from '../../formats.ts'
import {
  type Breaker,
  type BreakerField,
  type BreakerInput,
  type BreakerValues,
  BUDGETS,
  breakerChangedMeanwhile,
  breakerValuesOf,
  changedBreaker,
  effectOf,
  wrongBreakerFields,
} from '../../model/breaker-form.ts'
import { countryOptions } from '../../model/countries.ts'
import { useChange } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'
import classes from './breaker.module.css'

const { form: words, modes, aboutModes } = texts.breaker

interface BreakerFormProps {
  /** As it is saved now. */
  saved: Breaker
  input: BreakerInput
  onInput: (input: BreakerInput) => void
}

/** Changes the settings. Only changed ones are sent, for the version that the form shows. */
export function BreakerForm({ saved, input, onInput }: BreakerFormProps) {
  const [opened, setOpened] = useState(saved)
  const [isTried, setTried] = useState(false)
  const values = { ...breakerValuesOf(saved), ...input }
  const body = changedBreaker(input, saved)
  const hasInput = Object.keys(body).length > 0
  useUnsavedInput(hasInput)
  const saving = useChange('PUT /admin/breaker', () => onInput({}))
  // The answer to the save before this one was lost.
  const isSaved = saving.isSuccess || (isOutdated(saving.error) && !hasInput)
  const meanwhile = breakerChangedMeanwhile(input, opened, saved)
  const effect = effectOf(saved.mode, values.mode)

  function change(part: BreakerInput) {
    onInput({ ...input, ...part })
    if (saving.isSuccess) saving.reset()
  }
  function discard() {
    onInput({})
    setTried(false)
    saving.reset()
  }
  function submit() {
    setTried(true)
    if (!hasInput || wrongBreakerFields(values).length > 0) return
    // The version that the form shows, so that what it does not show is not overwritten.
    setOpened(saved)
    saving.mutate({ body, ifMatch: saved.version })
  }
  const wrong = isTried ? wrongBreakerFields(values) : []
  const aboutOf = (field: BreakerField, about?: string) =>
    meanwhile.includes(field) ? words.savedMeanwhile(savedText(field, saved)) : about
  return (
    <Section title={words.title}>
      <Form
        sending={saving}
        rest={isSaved ? null : saving.error}
        remedy={isOutdated(saving.error) && words.changedMeanwhile}
        onSubmit={submit}
        submit={words.save}
        isDisabled={!hasInput}
        beside={<SavedState words={words} isSaved={isSaved} onDiscard={hasInput ? discard : null} />}
        maw="40rem"
      >
        <RadioField
          label={words.mode}
          about={aboutOf('mode')}
          value={values.mode}
          onChange={mode => change({ mode })}
          choices={BREAKER_MODES}
          labels={modes}
          abouts={aboutModes}
        />
        <Budgets {...{ values, wrong, aboutOf }} onChange={change} />
        <Watched {...{ values, wrong, aboutOf }} onChange={change} />
        <div role="status">{effect !== null && <p className={classes.warning}>{words.effects[effect]}</p>}</div>
      </Form>
    </Section>
  )
}

/** What is saved of a field, beside other input. */
function savedText(field: BreakerField, saved: Breaker): string {
  const { none } = words
  if (field === 'mode') return modes[saved.mode]
  if (field === 'message_types') return saved.message_types.join(', ')
  if (field === 'pass_countries') return formatList(saved.pass_countries.map(countryName)) || none
  if (field === 'pass_users') return saved.pass_users.join(', ') || none
  return breakerValuesOf(saved)[field]
}

interface FieldsProps {
  values: BreakerValues
  wrong: readonly BreakerField[]
  aboutOf: (field: BreakerField, about?: string) => ReactNode
  onChange: (part: BreakerInput) => void
}

function Budgets({ values, wrong, aboutOf, onChange }: FieldsProps) {
  const { labels, aboutBudgets, errors } = words
  const usual = { ...DEFAULT_BUDGETS, share: formatPercent(DEFAULT_BUDGETS.share) }
  return (
    <fieldset className={classes.budgets}>
      <legend>
        <strong>{words.budgets}</strong>
        <br />
        {words.budgetsAbout}
      </legend>
      {BUDGETS.map(budget => (
        <TextField
          key={budget}
          label={labels[budget]}
          about={aboutOf(budget, aboutBudgets[budget](String(usual[budget])))}
          value={values[budget]}
          onChange={text => onChange({ [budget]: text })}
          error={wrong.includes(budget) && (budget === 'share' ? errors.share : errors.budget(MAX_BUDGET))}
          isNumber
        />
      ))}
    </fieldset>
  )
}

/** The types that are watched, and what always passes. */
function Watched({ values, wrong, aboutOf, onChange }: FieldsProps) {
  const { message_types, pass_countries, pass_users } = values
  return (
    <>
      <TagsInput
        label={words.types}
        description={aboutOf('message_types', words.typesAbout)}
        value={[...message_types]}
        onChange={types => onChange({ message_types: types })}
        error={wrong.includes('message_types') && words.errors.message_types}
        splitChars={[',', ' ']}
        acceptValueOnBlur
      />
      <ChoicesField
        label={words.countries}
        about={aboutOf('pass_countries')}
        options={countryOptions(pass_countries)}
        value={pass_countries}
        onChange={countries => onChange({ pass_countries: countries })}
        error={undefined}
      />
      <UsersField
        label={words.users}
        about={aboutOf('pass_users', words.usersAbout)}
        value={pass_users}
        onChange={users => onChange({ pass_users: users })}
        error={undefined}
      />
    </>
  )
}
