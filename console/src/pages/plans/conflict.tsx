import { Button, Group, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import type { Api } from '../../api/types.ts'
import { Actor, Timestamp } from '../../components/values.tsx'
import { texts } from '../../texts/texts.ts'
import classes from './plan.module.css'
import { PlanChanges } from './plan-changes.tsx'

const words = texts.plans.conflict

interface ConflictProps {
  /** The plan that the form is based on. */
  original: Api['Plan']
  /** The plan as someone else has saved it since. */
  theirs: Api['Plan']
  /** Whether the plan already is as the form says. */
  hasNothing: boolean
  /** What both have changed: theirs would be replaced. */
  changedByBoth: readonly string[]
  /** Saves the changes of the form on top of theirs. */
  onSave: () => void
  onDiscard: () => void
}

/** A save that was based on an older version: what the others changed, and whose values are kept. */
export function Conflict({ original, theirs, hasNothing, changedByBoth, onSave, onDiscard }: ConflictProps) {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  return (
    <section className={classes.stack} aria-labelledby="conflict-title">
      <h2 id="conflict-title" className={classes.conflictTitle} tabIndex={-1} ref={title}>
        {words.title}
      </h2>
      <Text size="sm">
        {words.about(<Actor subject={theirs.updated_by} />, theirs.version, <Timestamp at={theirs.updated_at} />)}
      </Text>
      {hasNothing ? (
        <Text size="sm">{words.nothing}</Text>
      ) : (
        <div>
          <Text size="sm" fw={600}>
            {words.theirs}
          </Text>
          <PlanChanges before={original} after={theirs} />
          {changedByBoth.length > 0 && (
            <Text size="sm" mt="xs">
              {words.both(changedByBoth)}
            </Text>
          )}
        </div>
      )}
      <Group gap="sm">
        {!hasNothing && <Button onClick={onSave}>{words.save}</Button>}
        <Button variant="default" onClick={onDiscard}>
          {words.reload}
        </Button>
      </Group>
    </section>
  )
}
