import { Radio, Text } from '@mantine/core'
import { useState } from 'react'
import type { Api } from '../../api/types.ts'
import { Conflict } from '../../components/conflict.tsx'
import { EDITABLE, type Editable, type FormValues, formValuesOf, isSame, settingsOf } from '../../model/quota-form.ts'
import { texts } from '../../texts/texts.ts'
import classes from './quota-form.module.css'
import { SETTING_LABELS, settingText } from './settings.ts'

type Quota = Api['SmsQuota']

const TEXTS = texts.quota.merge

interface MergePanelProps {
  values: FormValues
  /** The quota that the form is based on. */
  original: Quota
  /** The quota as someone else has saved it since. */
  theirs: Quota
  isBusy: boolean
  onSave: (values: FormValues) => void
  /** Discards the form values. */
  onDiscard: () => void
}

/** Resolves an edit conflict: shows both values of each setting, and the user chooses. */
export function MergePanel({ values, original, theirs, isBusy, onSave, onDiscard }: MergePanelProps) {
  const differences = differencesOf(values, original, theirs)
  const [chosen, setChosen] = useState<Partial<Record<Editable, Side>>>({})
  const sideOf = ({ name, by }: Difference): Side | null =>
    chosen[name] ?? (by === 'me' ? 'mine' : by === 'them' ? 'theirs' : null)
  const isDecided = differences.every(difference => sideOf(difference) !== null)
  const mine = { ...theirs, ...settingsOf(values, original) } as Quota

  function save() {
    const keptMine = differences.filter(difference => sideOf(difference) === 'mine').map(({ name }) => name)
    onSave(merged(values, theirs, keptMine))
  }
  return (
    <Conflict
      theirs={theirs}
      words={{
        ...TEXTS,
        about: (actor, at) => TEXTS.about(actor, theirs.version, at, original.version),
        save: TEXTS.save(theirs.version),
      }}
      onSave={save}
      isBusy={isBusy}
      isDisabled={!isDecided}
      onDiscard={onDiscard}
      beside={
        !isDecided && (
          <Text size="sm" c="dimmed">
            {TEXTS.undecided}
          </Text>
        )
      }
    >
      {differences.length === 0 ? (
        <Text size="sm">{TEXTS.nothing}</Text>
      ) : (
        <div className={classes.mergeRows}>
          {differences.map(difference => (
            <Row
              key={difference.name}
              difference={difference}
              mine={settingText(difference.name, mine)}
              theirs={settingText(difference.name, theirs)}
              side={sideOf(difference)}
              onSide={side => setChosen({ ...chosen, [difference.name]: side })}
            />
          ))}
        </div>
      )}
    </Conflict>
  )
}

interface RowProps {
  difference: Difference
  mine: string
  theirs: string
  side: Side | null
  onSide: (side: Side) => void
}

function Row({ difference: { name, by }, mine, theirs, side, onSide }: RowProps) {
  const label = SETTING_LABELS[name]
  return (
    <Radio.Group
      className={classes.mergeRow}
      label={label}
      description={TEXTS.by[by]}
      value={side}
      onChange={value => onSide(value === 'mine' ? 'mine' : 'theirs')}
    >
      <div className={classes.sides}>
        <Radio value="mine" label={<Choice label={TEXTS.mine} value={mine} />} />
        <Radio value="theirs" label={<Choice label={TEXTS.theirs} value={theirs} />} />
      </div>
    </Radio.Group>
  )
}

function Choice({ label, value }: { label: string; value: string }) {
  return (
    <>
      {label}:{' '}
      <strong>
        <bdi>{value}</bdi>
      </strong>
    </>
  )
}

/* ── Differences ────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Whose value of a setting is kept. */
type Side = 'mine' | 'theirs'

/** A setting whose form value differs from the saved value. */
interface Difference {
  name: Editable
  /** Who changed it; the user chooses if both did. */
  by: 'me' | 'them' | 'both'
}

/** @param original the quota that the form is based on @param theirs the quota as saved now */
function differencesOf(values: FormValues, original: Quota, theirs: Quota): Difference[] {
  const mine = settingsOf(values, original)
  return EDITABLE.filter(name => !isSame(mine[name], theirs[name])).map(name => {
    const isMine = !isSame(mine[name], original[name])
    const isTheirs = !isSame(theirs[name], original[name])
    return { name, by: isMine && isTheirs ? 'both' : isMine ? 'me' : 'them' }
  })
}

/** Form values of their version, with the settings of `keptMine` from the form. */
function merged(values: FormValues, theirs: Quota, keptMine: readonly Editable[]): FormValues {
  const isKept = (name: Editable) => keptMine.includes(name)
  const own = Object.fromEntries(keptMine.map(name => [name, values[name]]))
  return { ...formValuesOf(theirs), ...own, ...(isKept('limit') ? { is_unlimited: values.is_unlimited } : {}) }
}
