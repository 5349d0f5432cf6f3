import { Button, Radio, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { Api } from '../../api/types.ts'
import { Timestamp } from '../../components/values.tsx'
import { type Editable, type FormValues, settingsOf } from './form-values.ts'
import { type Difference, differencesOf, merged, type Side } from './merge.ts'
import classes from './merge-panel.module.css'
import { SETTING_LABELS, settingText } from './settings.ts'

type Quota = Api['SmsQuota']

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

const CHANGED_BY_LABELS: Record<Difference['by'], string> = {
  me: 'Changed by you',
  them: 'Changed by them',
  both: 'Changed by both: choose one',
}

/** Resolves an edit conflict: shows both values of each setting, and the user chooses. */
export function MergePanel({ values, original, theirs, isBusy, onSave, onDiscard }: MergePanelProps) {
  const differences = differencesOf(values, original, theirs)
  const [chosen, setChosen] = useState<Partial<Record<Editable, Side>>>({})
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  const sideOf = ({ name, by }: Difference): Side | null =>
    chosen[name] ?? (by === 'me' ? 'mine' : by === 'them' ? 'theirs' : null)
  const isDecided = differences.every(difference => sideOf(difference) !== null)
  const mine = { ...theirs, ...settingsOf(values, original) } as Quota

  function save() {
    const keptMine = differences.filter(difference => sideOf(difference) === 'mine').map(({ name }) => name)
    onSave(merged(values, theirs, keptMine))
  }
  return (
    <section className={classes.panel} aria-labelledby="merge-title">
      <h2 id="merge-title" className={classes.title} tabIndex={-1} ref={title}>
        This quota was changed by someone else
      </h2>
      <Text size="sm" className={classes.text ?? ''}>
        <bdi>“{theirs.updated_by}”</bdi> saved version {theirs.version} on <Timestamp at={theirs.updated_at} />. Your
        changes are based on version {original.version} and are not saved yet.
      </Text>
      {differences.length === 0 ? (
        <Text size="sm" my="md">
          Their version already has your changes. There is nothing to save.
        </Text>
      ) : (
        <div className={classes.rows}>
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
      <div className={classes.foot}>
        <Button onClick={save} loading={isBusy} disabled={!isDecided}>
          Save over version {theirs.version}
        </Button>
        <Button variant="default" onClick={onDiscard}>
          Discard my changes
        </Button>
        {!isDecided && (
          <Text size="sm" c="dimmed">
            Choose a value for each setting changed by both.
          </Text>
        )}
      </div>
    </section>
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
      className={classes.row ?? ''}
      label={label}
      description={CHANGED_BY_LABELS[by]}
      value={side}
      onChange={value => onSide(value === 'mine' ? 'mine' : 'theirs')}
    >
      <div className={classes.sides}>
        <Radio value="mine" label={<Choice label="Keep mine" value={mine} />} />
        <Radio value="theirs" label={<Choice label="Use theirs" value={theirs} />} />
      </div>
    </Radio.Group>
  )
}

function Choice({ label, value }: { label: string; value: string }) {
  return (
    <>
      {label}: <bdi className={classes.value}>{value}</bdi>
    </>
  )
}
