/** Limit of one uploaded file, beside the code of uploads, which the first load leaves out. */
export const uploadBytesMax = 2 * 1024 ** 3;
