import { Button, CloseButton, Input, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { MetadataRow } from './form-values.ts'
import classes from './quota-form.module.css'

const MAX_ROWS = 16

interface MetadataProps {
  rows: readonly MetadataRow[]
  onChange: (rows: readonly MetadataRow[]) => void
  error: ReactNode
}

/** Metadata as rows of key and value. */
export function MetadataField({ rows, onChange, error }: MetadataProps) {
  const change = (index: number, part: Partial<MetadataRow>) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...part } : row)))
  return (
    <fieldset className={classes.metadata}>
      <Input.Label component="legend" labelElement="div">
        Metadata
      </Input.Label>
      <Input.Description mb={6}>Custom data for your own systems, up to {MAX_ROWS} keys.</Input.Description>
      {rows.map((row, index) => (
        <div key={row.id} className={classes.metadataRow}>
          <TextInput
            aria-label={`Key ${index + 1}`}
            placeholder="Key"
            value={row.key}
            onChange={event => change(index, { key: event.currentTarget.value })}
            error={error !== undefined}
            autoComplete="off"
          />
          <TextInput
            aria-label={`Value ${index + 1}`}
            placeholder="Value"
            dir="auto"
            value={row.value}
            onChange={event => change(index, { value: event.currentTarget.value })}
            autoComplete="off"
          />
          <CloseButton
            aria-label={`Remove key ${index + 1}`}
            onClick={() => onChange(rows.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      {error !== undefined && <Input.Error mb={6}>{error}</Input.Error>}
      <Button
        variant="default"
        size="xs"
        disabled={rows.length >= MAX_ROWS}
        onClick={() => onChange([...rows, { id: 1 + Math.max(0, ...rows.map(({ id }) => id)), key: '', value: '' }])}
      >
        Add a key
      </Button>
    </fieldset>
  )
}
