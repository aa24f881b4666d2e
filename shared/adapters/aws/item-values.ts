/**
 * Options for values that become attributes of an item of the table: an undefined one is left out, and an object is a map,
 * whatever the names of its fields are. By default the library takes an object with a field `constructor`, which a label of a
 * client may be, for an instance of a class, and refuses to write it. A document client changes the options that it is given,
 * so each gets its own.
 */
export const itemValues = () => ({ removeUndefinedValues: true, convertClassInstanceToMap: true });
