import { Button, Radio, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { Api } from '../../api/types.ts'
import { Moment } from '../../parts/moment.tsx'
import { type Difference, differencesOf, merged, type Side } from './merge.ts'
import classes from './merge-panel.module.css'
import { SETTING_LABELS, settingText } from './settings.ts'
import { type Editable, settingsOf, type Typed } from './typed.ts'

type Quota = Api['SmsQuota']

interface MergePanelProps {
  typed: Typed
  /** The quota that the form began with. */
  was: Quota
  /** The quota as somebody else has made it since. */
  theirs: Quota
  isBusy: boolean
  onSave: (typed: Typed) => void
  /** Gives up what was typed. */
  onDiscard: () => void
}

const BY_WORDS: Record<Difference['by'], string> = {
  me: 'Only you changed it',
  them: 'Only they changed it',
  both: 'You both changed it: choose',
}

/** Two people changed a quota at once: what each made of it, side by side, and which of it shall be. */
export function MergePanel({ typed, was, theirs, isBusy, onSave, onDiscard }: MergePanelProps) {
  const differences = differencesOf(typed, was, theirs)
  const [chosen, setChosen] = useState<Partial<Record<Editable, Side>>>({})
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  const sideOf = ({ name, by }: Difference): Side | null =>
    chosen[name] ?? (by === 'me' ? 'mine' : by === 'them' ? 'theirs' : null)
  const isDecided = differences.every(difference => sideOf(difference) !== null)
  const mine = { ...theirs, ...settingsOf(typed, was) } as Quota

  function save() {
    const keptMine = differences.filter(difference => sideOf(difference) === 'mine').map(({ name }) => name)
    onSave(merged(typed, theirs, keptMine))
  }
  return (
    <section className={classes.panel} aria-labelledby="merge-title">
      <h2 id="merge-title" className={classes.title} tabIndex={-1} ref={title}>
        Somebody else changed this quota meanwhile
      </h2>
      <Text size="sm" className={classes.words ?? ''}>
        <bdi>“{theirs.updated_by}”</bdi> saved version {theirs.version}, <Moment at={theirs.updated_at} />. You began
        with version {was.version}. Nothing of yours is saved yet.
      </Text>
      {differences.length === 0 ? (
        <Text size="sm" my="md">
          What they saved is what you wanted, too: there is nothing left to save.
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
          Save on top of version {theirs.version}
        </Button>
        <Button variant="default" onClick={onDiscard}>
          Drop my changes
        </Button>
        {!isDecided && (
          <Text size="sm" c="dimmed">
            Choose where you both changed something.
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
      description={BY_WORDS[by]}
      value={side}
      onChange={value => onSide(value === 'mine' ? 'mine' : 'theirs')}
    >
      <div className={classes.sides}>
        <Radio value="mine" label={<Choice words="Keep mine" value={mine} />} />
        <Radio value="theirs" label={<Choice words="Take theirs" value={theirs} />} />
      </div>
    </Radio.Group>
  )
}

function Choice({ words, value }: { words: string; value: string }) {
  return (
    <>
      {words}: <bdi className={classes.value}>{value}</bdi>
    </>
  )
}
